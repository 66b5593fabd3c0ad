#!/bin/bash
# Prints the project's accepted preferences, which Claude then reads. Builtins only.
directory=${CLAUDE_CONFIG_DIR:-~/.claude}
settings=
[[ -n ${CLAUDE_PLUGIN_ROOT-} ]] && IFS= read -r -d '' settings 2>/dev/null <"$directory/settings.json"
[[ $settings == *perpetualcc/learning/hooks/* ]] && exit 0
block=$directory/learning/blocks/projects${CLAUDE_PROJECT_DIR:-$PWD}/block.md
[[ -r $block ]] || block=$directory/learning/blocks/block.md
[[ -r $block ]] && IFS= read -r -d '' text <"$block"
[[ -n ${text-} ]] && printf '%s' "$text"
. "${BASH_SOURCE[0]%/*}/capture.sh"
