"""
For a while: lines that shells are known to run, cut up and joined anew. What is LOW of them, bash
and zsh are given, and neither runs the command that is in it.
"""

import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from judging import bash_risk, is_run
from test_what_bash_runs import IN_A_SUBSCRIPT
from test_what_bash_runs import RUNS as BASH_RUNS
from test_what_zsh_runs import RUNS as ZSH_RUNS
from test_what_zsh_runs import RUNS_UNSEEN, needs_zsh, zsh_runs

from perpetualcc.domain.tools import Risk

SECONDS = float(os.environ.get("FUZZ_SECONDS", "120"))
SIGNS = [
    *"'\"`\\$(){}[]<>|&;#~!=*?,:-+@^%/ \t\n",
    "\\\n", "$(", "$((", "))", "${", "${x:-", "${x/", "${(e)", "${!", "${#", "${x@", "$'", '$"',
    "$[", "[[", "]]", " ]", "<<", "<<<", "<(", ">(", "=(", "&&", "||", ";;", "|&", "&>", "2>&1",
    " == ", " =~ ", "eval ", "x=", "x+=", "a[", "a=(", "!!", "{a,b}", " in ", "do ", "done",
    "shift; ", "$1", "-n ", "<<E\n", "\nE\n", "<<'E'\n", "CMD", "$(CMD)", "`CMD`",
]  # fmt: skip
KNOWN = [*BASH_RUNS, *IN_A_SUBSCRIPT, *ZSH_RUNS, *RUNS_UNSEEN]
PLAIN = [
    "cat <<EOF\nCMD\nEOF", "cat <<'E'\n$(CMD)\nE", "cat <<-E && ls\n\tCMD\n\tE",
    "cat << A << B\nA\nCMD\nB", "x=$(cat <<'E'\nCMD\nE\n)", "# CMD", "ls # CMD",
    "f() {\n  echo 'CMD'\n}", 'echo "a\nCMD\nb"', "case x in\n a) ls ;;\n 'CMD') ls ;;\nesac",
    'for i in a b; do\n echo "$i CMD"\ndone', "ls \\\n  -l",
    "if [ -f x ]; then\n echo CMD\nelse\n ls\nfi",
    'while read -r l; do echo "$l"; done <<< CMD', "echo $'a\\nCMD'", "a=('CMD' b)",
    "declare -A m=([k]=CMD)", 'set -- CMD; echo "$@"', '[[ "$x" == CMD ]]',
    "echo a && \\\n ls", "diff <(echo CMD) <(ls)", "echo ${x:-CMD}",
    "python3 - <<'E'\nprint('CMD')\nE", "alias g=CMD", "( echo CMD )",
]  # fmt: skip
"""Lines that run nothing: with others before and after them they are of several commands."""
JOINTS = [
    *["\n"] * 6, "; ", " && ", " | ", " & ", "\n\n", "\\\n", "\n\\\n", "\r\n", "\n# x\n", "\n;",
    " \n", "\n'\n", '\n"\n', "\n)", "\n}\n", "\n\\", "\n`", "\nE\n", "\nEOF\n", " <<E\n", " (\n",
    " {\n", "\nfi\n", " ;;\n",
]  # fmt: skip


def changed(line: str, others: list[str], chance: random.Random) -> str:
    at = chance.randrange(len(line) + 1)
    match chance.randrange(5):
        case 0:
            return line[:at] + chance.choice(SIGNS) + line[at:]
        case 1:
            return line[:at] + line[at + chance.randrange(1, 4) :]
        case 2:
            end = at + chance.randrange(1, 8)
            return line[:end] + line[at:]
        case 3:
            other = chance.choice(others)
            return line[:at] + other[chance.randrange(len(other) + 1) :]
        case _:
            return line[:at] + chance.choice(others) + line[at:]


def made(chance: random.Random) -> Iterator[str]:
    while True:
        line = chance.choice(KNOWN)
        for _ in range(chance.randrange(4)):
            line += chance.choice(JOINTS) + chance.choice(chance.choice((KNOWN, PLAIN)))
        for _ in range(chance.randrange(5)):
            line = changed(line, chance.choice((KNOWN, PLAIN)), chance)
        if "CMD" in line and "\0" not in line and len(line) < 600:
            yield line


@needs_zsh
@pytest.mark.soak
@pytest.mark.timeout(SECONDS * 3)
def test_what_is_low_runs_nothing_in_a_shell() -> None:
    seed = random.randrange(10**9)
    tried, until = 0, time.monotonic() + SECONDS
    for line in made(random.Random(seed)):
        if time.monotonic() > until:
            break
        if bash_risk(line.replace("CMD", "rm x")) is not Risk.LOW:
            continue
        with TemporaryDirectory() as name, suppress(subprocess.TimeoutExpired):
            assert not is_run(line, Path(name)), f"bash, {seed}: {line!r}"
            assert not zsh_runs(line, Path(name)), f"zsh, {seed}: {line!r}"
            tried += 1
    assert tried > SECONDS, "few of the lines are LOW"
