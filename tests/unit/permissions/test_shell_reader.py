"""The reader against tables, and against the real bash where words are concerned."""

import shutil
import subprocess

import pytest

from perpetualcc.permissions.shell.reader import read_script
from perpetualcc.permissions.shell.script import UNKNOWN, Problem, Script


def read(text: str) -> Script:
    return read_script(text, home="/home/dev", project="/p", cwds=("/p",))


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in read(text).commands]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a && b || c; d & e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("(a; { b; }) | c", [["a"], ["b"], ["c"]]),
        ("c=rm; $c -rf /", [[], ["rm", "-rf", "/"]]),
        ("x='a b'; $x \"$x\"", [[], ["a", "b", "a b"]]),
        ("for f in a b; do rm $f; done", [["rm", "a"], ["rm", "b"]]),
        ("echo {a,b}{1..2}", [["echo", "a1", "a2", "b1", "b2"]]),
        ("r''m \\r\\m $'\\x72m'", [["rm", "rm", "rm"]]),
        ("cat${IFS}x", [["cat", "x"]]),
        ("echo $(id)", [["id"], ["echo", UNKNOWN]]),
        ("echo `echo \\`id\\``", [["id"], ["echo", UNKNOWN], ["echo", UNKNOWN]]),
        ("if a; then b; else c; fi", [["a"], ["b"], ["c"]]),
        ("case $1 in x) a;; *) b;; esac", [["a"], ["b"]]),
        ("cat <<E | sh\nx\nE\n", [["cat"], ["sh"]]),
        ("echo a # b\nc", [["echo", "a"], ["c"]]),
    ],
)
def test_a_script_becomes_its_simple_commands(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


def test_a_variable_that_may_have_changed_is_unknown() -> None:
    assert words("c=ls; if x; then c=rm; fi; $c")[-1] == [UNKNOWN]


@pytest.mark.parametrize(
    "text", ["c=rm; false && c=ls || $c", "c=rm; x || c=ls && $c", "c=rm; x || c=ls; $c"]
)
def test_after_or_anything_before_may_have_failed(text: str) -> None:
    assert words(text)[-1] == [UNKNOWN]


def test_a_loop_sees_what_its_own_body_changed() -> None:
    assert [UNKNOWN] in words("c=ls; while true; do $c; c=rm; done")


@pytest.mark.parametrize(
    ("text", "cwds"),
    [
        ("cd /tmp && x", ("/tmp",)),
        ("cd a && cd .. && x", ("/p",)),
        ("(cd /tmp); x", ("/p",)),
        ("mkdir b && cd b && x && y", ("/p/b",)),
        ("false && cd /x || y", ("/x", "/p")),
        ("cd a && b || c && d", ("/p/a", "/p")),
        ("cd /tmp; x", ("/tmp", "/p")),
        ("cd; cd - && x", (None,)),
        ('cd "$(git rev-parse --show-toplevel)" && x', ("/p",)),
    ],
)
def test_it_knows_where_a_command_may_run(text: str, cwds: tuple[str | None, ...]) -> None:
    assert read(text).commands[-1].cwds == cwds


@pytest.mark.parametrize(
    "text", ["rm 'x", "echo $(", "a )", "if x; then", "cat <<E\nx", "<<A <<B\n"]
)
def test_what_the_shell_would_refuse_is_a_problem(text: str) -> None:
    assert read(text).problems


def test_nesting_and_length_have_caps() -> None:
    deep = read("$(" * 3_000 + "ls" + ")" * 3_000)
    long = read("ls; " * 5_000)

    assert {p for p, _ in deep.problems} & {Problem.TOO_DEEP, Problem.TOO_LONG}
    assert Problem.TOO_LONG in {p for p, _ in long.problems}


WORDS = [
    r"plain",
    r"'single $x \n'",
    r'"double \$x \" \\ \n"',
    r"mi'x'\"e\"d",
    r"$'\t\x41\101é\\'",
    r"a{b,c}d",
    r"{1..4}",
    r"{c..a}",
    r"a\ b",
    r"\{a,b}",
    r"'{a,b}'",
    r"{a,b",
    r"x{,y}",
    r"{1..9..4}",
    r'"a"$x',
    r"$x",
    r'"$x"',
    r"${x}y",
    r"a=b",
    r"--opt={a,b}",
    r"\'",
    r'""',
    r"''a",
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="compares with the real bash")
@pytest.mark.parametrize("word", WORDS)
def test_words_are_what_bash_makes_of_them(word: str) -> None:
    script = f"x='v w'; printf '%s\\0' {word}"
    real = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )

    mine = [w.text for w in read(script).commands[-1].words[2:]]

    assert [w.encode() for w in mine] == real.stdout.split(b"\0")[:-1]
