"""
What zsh runs, the gate has read, though it reads as bash does.

Claude Code runs commands in the person's shell, which is zsh on every Mac. The gate does not ask
which shell it is: a line that zsh reads otherwise is never LOW. Where zsh is installed it says
whether these lines are true.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judging import bash_risk, is_run

from perpetualcc.domain.tools import Risk

needs_zsh = pytest.mark.skipif(shutil.which("zsh") is None, reason="compares with the real zsh")
OPTIONS = (
    "setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_EQUALS && eval "
)
"""What Claude Code says to zsh before each command (2.1.330)."""
ZSH = ("zsh", "-f", "-c")
RUNS = [
    "[[x =(CMD) ]]",
    "f() { [[-f =(CMD) ]]; }; f",
    "ls $x['$(CMD)'].py",
    "ls $#x['$(CMD)']",
    "ls $#@['$(CMD)']",
    "cat <<< $x['$(CMD)']",
    "case $y['$(CMD)'] in x) ;; esac",
    "for i in $y['`CMD`']; do :; done",
    "functions[ls]='CMD'; ls",
    "aliases[ls]='CMD'; eval ls",
    "galiases[X]=';CMD'; eval 'ls X'",
    "exit 'path[$(CMD)]'",
    "f() { return 'path[$(CMD)]'; }; f",
    "printf '%d' 'path[$(CMD)]'",
    "printf '%*s' 'path[$(CMD)]' 1",
    "F=%d; printf $F 'path[$(CMD)]'",
    "read 'x[$(CMD)]' < /dev/null",
    "let 'path[$(CMD)]'",
    "export 'path[$(CMD)]=1'",
    "cat =(CMD)",
    "echo ${(e):-'$(CMD)'}",
    'echo ${(f)"$(CMD)"}',
    "echo ${(f)$(CMD)}",
    "- CMD",
    "noglob CMD",
    "repeat 1 CMD",
    "repeat 2 { CMD }",
    "emulate zsh -c 'CMD'",
    "autoload -Uz zargs; zargs -- a -- CMD",
    "{ ls } always { CMD }",
    "for x (a) CMD",
    "if (true) CMD",
    "() { CMD } a b",
    "function a b { CMD }; b",
    "echo 'ls #\\nCMD' > t.sh; bash t.sh",
    "echo 'ls #\\nCMD' | bash",
    "bash <(echo 'ls #\\nCMD')",
    "v=': # x\nCMD'; eval $v",
    "v='ls; CMD'; bash -c $v",
    "v='ls; CMD'; env sh -c $v",
    "v=': # x\nCMD'; eval ${v}",
    "v=': # x\nCMD; :'; eval $v-",
    "v=': # x\n:; CMD'; bash -c ${v}",
    "! { ls } always { CMD }",
    "coproc { ls } always { CMD }; wait",
    "echo 'CMD' | sh <<< ls",
    "echo 'CMD' | sh <<< ls | cat && ls",
    "echo 'CMD' | sh <<< ls | cat || ls && pwd",
    "echo 'CMD' | { sh } < /dev/null <<< ls",
    "sh <<< ls <<< 'CMD'",
    "ls $$[ 'a[$(CMD)]' ]",
    "printf -%d 'path[$(CMD)]'",
    "printf %n 'path[$(CMD)]'",
    "printf %ld 'path[$(CMD)]'",
    "ls $$[path[1], 'a[$(CMD)]' ]",
    "printf %d ~'path[$(CMD)]'",
    "repeat 'path[$(CMD)]' ls",
    "v='ls; CMD'; sh -cx $v",
    "v='ls; CMD'; env sh -cc$1 $v",
    "ls $$[% 'a[\\\n$(CMD)]' ]",
    "v='ls; CMD'; env sh -c{a,b} $v",
    "f() { shift; read \"$1\" <<< 1; }; f x 'a[$(CMD)]'",
]
RUNS_UNSEEN = [
    "setopt bareglobqual; ls *(e_CMD_)",
    "x='*(e_CMD_)'; setopt bareglobqual globsubst; ls $x",
    "set -o extendedglob; ls *(#qe_CMD_)",
    "setopt promptsubst; print -P '$(CMD)'",
    "functions+=(ls 'CMD'); ls",
    "histchars='!^%'; eval 'ls # ; CMD'",
    "y='CMD'; ${=y}",
]
"""Somewhere in them what they run is data, so that it is only said that it is not known."""
WRITES = [
    "echo . | read D; touch $D/it-ran",
    "D=src; echo . | read D; touch $D/it-ran",
    "D=src; ls | D=.; touch $D/it-ran",
    "cd src; ls | cd ..; touch it-ran",
    "D=src; set -A D .; touch $D/it-ran",
    'D=src; read "D?Where:" <<< .; touch $D/it-ran',
    "D=src; : ${D::=.}; touch $D/it-ran",
    "D=src/lib; touch $D:h:h/it-ran",
    'D=src/lib; touch "$D:h:h/it-ran"',
    "D=src/.; touch $D[5]/it-ran",
    'D=src/.; touch "$D[5]/it-ran"',
    "touch $'src/../it-ran\\0'/../src/x",
    "touch src/{.../}{.../}{.../}it-ran",
    "ls > {src,.}/it-ran",
    "typeset -T D d; D=src; d=(.); touch $D/it-ran",
    "typeset -R1 D=src/.; touch $D/it-ran",
    "MATCH=src; [[ . =~ '.*' ]]; touch $MATCH/it-ran",
    "OLDPWD=src; cd src; touch $OLDPWD/it-ran",
    "cd src && cd lib && touch ~-/../it-ran",
    "X=$PWD; cd src && touch ~X/it-ran",
    "cd src; - cd ..; touch $PWD/it-ran",
    "D=src; command cd $D; touch $PWD/it-ran",
    "cd src && repeat 1 cd .. && touch it-ran",
    "cd src; ls >! ../it-ran",
    "hash ls=/usr/bin/touch; ls it-ran",
    "commands[ls]=/usr/bin/touch; ls it-ran",
    "commands+=(ls /usr/bin/touch); ls it-ran",
]
"""Each makes `it-ran` in the directory where it begins; bash, if at all, in `src`."""


def zsh_runs(line: str, directory: Path) -> bool:
    """As Claude Code has it run, or by a `zsh -c` in the line."""
    (directory / "src" / "lib").mkdir(parents=True, exist_ok=True)
    quoted = "'" + line.replace("'", "'\\''") + "'"
    return is_run(OPTIONS + quoted, directory, *ZSH) or is_run(line, directory, *ZSH)


@needs_zsh
@pytest.mark.parametrize("line", [*RUNS, *RUNS_UNSEEN, *WRITES])
def test_zsh_does_what_these_lines_are_judged_for(line: str, tmp_path: Path) -> None:
    assert zsh_runs(line, tmp_path)


@pytest.mark.parametrize("line", RUNS)
def test_what_zsh_runs_is_judged(line: str) -> None:
    assert bash_risk(line.replace("CMD", "git push --force")) is Risk.HIGH
    assert bash_risk(line.replace("CMD", "rm x")) is Risk.HIGH


@pytest.mark.parametrize("line", [*RUNS_UNSEEN, *WRITES])
def test_what_zsh_reads_otherwise_is_never_low(line: str) -> None:
    assert bash_risk(line.replace("CMD", "git push --force")) is not Risk.LOW


@pytest.mark.parametrize(
    "line",
    [
        "setopt nonomatch; ls **/*.ts",
        "setopt null_glob KSH_ARRAYS sh_word_split; ls *.py",
        "set -euo pipefail; npm test",
        "for f in *.py; do wc -l $f; done",
        "print -l a b",
        "print -rn -- a > src/x",
        "whence -p python",
        "noglob ls src/*",
        "repeat 3 npm test",
        "autoload -Uz colors",
        "typeset -U path",
        "typeset -A m; m[a]=1; echo $m[a]",
        "path=src; ls $path",
        "for path in src tests; do ls $path; done",
        "find src -name '*.py' | while read path; do wc -l $path; done",
        'commands=("npm test" "npm run lint"); echo $commands',
        'options=(-v -x); pytest "${options[@]}"',
        'V=1; echo "v$V:ok" "$V[0]"',
        "git log --format='%h\\n%s'",
        "printf '%s\\n' '- [ ] see `rm x`' > src/a.md",
        "echo '[x] $(rm x)' > src/a.md",
    ],
)
def test_everyday_lines_of_both_shells_stay_low(line: str) -> None:
    assert bash_risk(line) is Risk.LOW


@pytest.mark.parametrize(
    "line",
    [
        "path=(/tmp/x $path); ls",
        "fpath=(/tmp/x $fpath); autoload -Uz ls; ls",
        "autoload -Uz /tmp/x/ls; ls",
        "emulate sh",
        "set -k; ls",
        "set -4; cat *",
        "setopt promptsubst",
        "options[promptsubst]=on",
        "READNULLCMD=/tmp/x; < src/a",
    ],
)
def test_what_changes_how_zsh_reads_or_what_it_finds_is_not_low(line: str) -> None:
    assert bash_risk(line) is not Risk.LOW


INSIDE = ["$(CMD)", "`CMD`", "CMD", "a", "$x", "$x[1]", "$HOME", "'", '"', "\\", "#", "=", "~", "^"]
AROUND = {
    "'": "'", '"': '"', "$'": "'", "(": ")", "{ ": " }", "${x:-": "}", '"${x:-': '}"', "${(f)": "}",
    "${(e)": "}", "${=": "}", "${~": "}", '"${HOME#': '}"', "$x[": "]", '"$x[': ']"', "$((": "))",
    "=(": ")", "a[": "]", "*(e_": "_)", "$(echo ": ")", "`echo ": "`",
}  # fmt: skip
WORDS = st.recursive(
    st.sampled_from(INSIDE),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(sorted(AROUND)), inner).map(
            lambda made: made[0] + made[1] + AROUND[made[0]]
        ),
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(" ".join),
    ),
    max_leaves=6,
)
LINES = st.tuples(
    st.sampled_from(
        ["echo @", "x=@; echo $x", "x='@'; echo ${~x}", "[[ @ ]]", "[ @ ]", "cat <<E\n@\nE\n",
         "a=(@)", "cat <<< @", "case @ in x) ;; esac", "for i in @; do :; done", "ls > @", "ls # @",
         "ls @", "ls | cat @", "repeat 1 ls @", "printf '%s' @", "eval 'ls @'", "typeset x=@",
         "echo $y@"]
    ),
    WORDS,
).map(lambda made: made[0].replace("@", made[1]))  # fmt: skip


@needs_zsh
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(line=LINES.filter(lambda line: "CMD" in line))
def test_no_line_is_low_whose_command_zsh_runs(line: str) -> None:
    if bash_risk(line.replace("CMD", "rm x")) is not Risk.LOW:
        return

    with TemporaryDirectory() as directory:
        assert not zsh_runs(line, Path(directory))


PLACES = st.sampled_from(
    ["src", "..", ".", "src/lib", "src/..", "$PWD", "$D", '"$D"', "$D/..", "~-", "$D[1,2]", "$D:h",
     '"$D:h"', "$OLDPWD", "{src,..}", "$(echo ..)", "`echo src`", "s*", "$'..'", "(src)"]
)  # fmt: skip
MOVES = st.tuples(
    st.sampled_from(
        ["D=@", "cd @", "ls | cd @", "echo @ | read D", "read D <<< @", "(cd @)", "{ cd @; }",
         "cd @ && ls", "cd @ || ls", "eval 'cd @'", "pushd @", "cd -", "f() { cd @; }; f", "D=@ ls",
         "typeset D=@", "for D in @ @; do ls; done", "printf -v D %s @", ": ${D:=@}", "D=(@ @)",
         "D[1]=@", "command cd @", "noglob cd @", "- cd @", "repeat 1 cd @", "time cd @",
         "cd @ | cat", "cat <<X | cd @\nx\nX\n:", "unset D", "[[ @ =~ '.*' ]]; D=$MATCH"]
    ),
    PLACES,
).map(lambda made: made[0].replace("@", made[1]))  # fmt: skip
ENDS = st.sampled_from(
    ["touch $D/it-ran", "touch it-ran", "ls > $D/it-ran", "ls > {src,$D}/it-ran",
     "touch $PWD/it-ran", "touch src/$D/it-ran", 'touch "$D:h/it-ran"']
)  # fmt: skip


@needs_zsh
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    moves=st.lists(MOVES, min_size=1, max_size=3),
    joint=st.sampled_from(["; ", "\n", " && ", " || "]),
    end=ENDS,
)
def test_no_line_is_low_that_zsh_has_write_elsewhere(
    moves: list[str], joint: str, end: str
) -> None:
    line = joint.join(["D=src", *moves, end])
    if bash_risk(line) is not Risk.LOW:
        return

    with TemporaryDirectory() as directory:
        project = Path(directory) / "project"
        project.mkdir()
        assert not zsh_runs(line, project), line
        assert not (Path(directory) / "it-ran").exists(), line
