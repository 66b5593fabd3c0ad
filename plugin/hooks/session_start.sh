#!/bin/bash
# Prints the project's accepted preferences, which Claude then reads. Builtins only.
directory=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/learning
[[ -n ${CLAUDE_PLUGIN_ROOT-} && -e $directory/installed.json ]] && exit 0
block=$directory/blocks/projects${CLAUDE_PROJECT_DIR:-$PWD}/block.md
[[ -r $block ]] || block=$directory/blocks/block.md
[[ -r $block ]] && IFS= read -r -d '' text <"$block"
[[ -n ${text-} ]] && printf '%s' "$text"
. "${BASH_SOURCE[0]%/*}/capture.sh"
