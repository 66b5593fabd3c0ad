#!/bin/bash
# Prints the accepted preferences of the project, or of the folder it is in, as far as the repository
# goes, which Claude then reads. Builtins only.
directory=${CLAUDE_CONFIG_DIR:-~/.claude}
settings=
[[ -n ${CLAUDE_PLUGIN_ROOT-} ]] && IFS= read -r -d '' settings 2>/dev/null <"$directory/settings.json"
[[ $settings == *perpetualcc/learning/hooks/* ]] && exit 0
blocks=$directory/learning/blocks
place=${CLAUDE_PROJECT_DIR:-$PWD}
until [[ $place != /* || -r $blocks/projects$place/block.md || -e $place/.git ]]; do place=${place%/*}; done
block=$blocks/projects$place/block.md
[[ -r $block ]] || block=$blocks/block.md
[[ -r $block ]] && IFS= read -r -d '' text <"$block"
[[ -n ${text-} ]] && printf '%s' "$text"
. "${BASH_SOURCE[0]%/*}/capture.sh"
