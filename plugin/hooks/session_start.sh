#!/bin/bash
# Prints the accepted preferences of the project, or of the folder it is in, as far as the repository
# goes, which Claude then reads. Builtins only.
directory=${CLAUDE_CONFIG_DIR:-~/.claude}
settings=
[[ -n ${CLAUDE_PLUGIN_ROOT-} ]] && IFS= read -r -d '' settings 2>/dev/null <"$directory/settings.json"
[[ $settings == *perpetualcc/learning/hooks/* ]] && exit 0
blocks=$directory/learning/blocks
start=${CLAUDE_PROJECT_DIR:-$PWD}
outward() { until [[ $place != /* || -r $blocks/projects$place/block.md || -e $place/.git ]]; do place=${place%/*}; done; }
place=$start
outward
# A worktree is the same repository: its .git is a file that leads to the main one.
if [[ -f $place/.git && ! -r $blocks/projects$place/block.md ]]; then
  IFS= read -r git <"$place/.git"
  git=${git#gitdir:} main=$place
  git=${git# }
  while [[ $git == ../* ]]; do git=${git#../} main=${main%/*}; done
  [[ $git == /* ]] || git=$main/$git
  # Anybody can write such a file: git writes in the main one where the worktree is.
  back=
  [[ /$git/ != */../* && -r $git/gitdir ]] && IFS= read -r back <"$git/gitdir"
  [[ -z $back || $back == /* ]] || back=$git/$back
  if [[ $git == */.git/worktrees/* && -n $back && $back -ef $place/.git ]]; then
    place=${git%/.git/worktrees/*}${start#"$place"}
    outward
  fi
fi
block=$blocks/projects$place/block.md
[[ -r $block ]] || block=$blocks/block.md
[[ -f $block && -r $block ]] && IFS= read -r -d '' text <"$block"
[[ -n ${text-} ]] && printf '%s' "$text"
. "${BASH_SOURCE[0]%/*}/capture.sh"
