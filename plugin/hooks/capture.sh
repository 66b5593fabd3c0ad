#!/bin/bash
# Appends one event to the learning queue: capture.sh <event type>, the hook's JSON on stdin.
# Builtins only but for the plugin's first time, bash 3.2 and newer, silent, never fails: the user's
# session comes first.
LC_ALL=C
umask 077
directory=${CLAUDE_CONFIG_DIR:-~/.claude}
# Nobody has installed the plugin's hooks but Claude Code: they make the place, where pcc can read it.
[[ -d $directory/learning || -z ${CLAUDE_PLUGIN_ROOT-} ]] || ! type -P pcc >/dev/null ||
  mkdir -p "$directory/learning/spool" "$directory/learning/blocks" 2>/dev/null
[[ -d $directory/learning ]] || exit 0
# What is no file, a pipe say, would be waited for.
[[ -e $directory/learning_queue.jsonl && ! -f $directory/learning_queue.jsonl ]] && exit 0
# The plugin and the settings may both have us; once is enough.
settings=
[[ -n ${CLAUDE_PLUGIN_ROOT-} ]] && IFS= read -r -d '' settings 2>/dev/null <"$directory/settings.json"
[[ $settings == *perpetualcc/learning/hooks/* ]] && exit 0

# -N reads in blocks; -d '' reads a pipe byte by byte, but it is all that bash 3.2 has.
input= # which it leaves alone when the time is over
if ((BASH_VERSINFO[0] > 4 || (BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] > 0))); then
  IFS= read -r -t 5 -N 16777216 input
else
  IFS= read -r -t 5 -d '' input
fi
# A JSON string holds no bare line end, so these are only white space between tokens.
[[ $input == *$'\n'* ]] && input=${input//$'\n'/ }
[[ $input == *[!\ ]* ]] || input=null

project=${CLAUDE_PROJECT_DIR:-$PWD}
if [[ $project == *[\"\\[:cntrl:]]* ]]; then
  escaped=
  for ((i = 0; i < ${#project}; i++)); do
    character=${project:i:1}
    case $character in
      \" | \\) escaped+=\\$character ;;
      [[:cntrl:]]) printf -v code '\\u%04x' "'$character" && escaped+=$code ;;
      *) escaped+=$character ;;
    esac
  done
  project=$escaped
fi

now=${EPOCHSECONDS-}
[[ -n $now ]] || printf -v now '%(%s)T' -1 2>/dev/null || now=null
id=${EPOCHREALTIME-$now}-$$-$RANDOM$RANDOM
by=user
[[ -n ${PERPETUALCC_RUN-} ]] && by=engine
line="{\"v\":1,\"id\":\"$id\",\"type\":\"$1\",\"project\":\"$project\",\"timestamp\":$now,\"by\":\"$by\""

# bash writes a line in one write(2) only as far as its buffer goes: 1,008 bytes on macOS, 4,096
# and more elsewhere. One write to a file opened for appending is atomic; so what is longer goes
# into a file of its own first, and its name into the queue.
limit=4000
[[ $OSTYPE == darwin* ]] && limit=1000
if ((${#line} + ${#input} + 12 <= limit)); then
  printf '%s\n' "$line,\"hook\":$input}" >>"$directory/learning_queue.jsonl"
else
  set -C
  printf '%s\n' "$input" >"$directory/learning/spool/$id.json" &&
    printf '%s\n' "$line,\"spool\":\"$id.json\"}" >>"$directory/learning_queue.jsonl"
fi 2>/dev/null
exit 0
