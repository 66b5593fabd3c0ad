"""What lacks a word, or says two things, is typed wrong in every command: code 2."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.main import app

GROUPS = ("brain", "daemon", "learn", "memory", "notify")


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """What a command ends with that must not get as far as a daemon."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for module in ("sessions", "start", "people", "rules", "devices", "budget"):
        monkeypatch.setattr(
            f"perpetualcc.cli.{module}.connect", lambda *_, **__: pytest.fail("it was sent")
        )
    return lambda words: CliRunner().invoke(app, ["--data-dir", str(tmp_path), *words])


@pytest.mark.parametrize(
    "words",
    [
        ["start", "."],
        ["start", ".", "--task", " "],
        ["start", ".", "--task", "x", "--when", " "],
        ["start", ".", "--task", "x", "--check", ""],
        ["start", ".", "--task", "x", "--every", ""],
        ["start", ".", "--task", "x", "--when", "true", "--at", "in 1 hour"],
        ["start", ".", "--task", "x", "--when", "true", "--every", "hour", "--missed", "skip"],
        ["start", ".", "--task", "x", "--missed", "skip"],
        ["start", ".", "--task", "x", "--yes"],
        ["start", ".", "--task", "x", "--plan", "--perpetual"],
        ["start", ".", "--requirements", "tasks.md", "--plan"],
        ["start", ".", "--task", "x", "--level", "2"],
        ["start", ".", "--task", "x", "--writable", "src"],
        ["perpetual", "."],
        ["perpetual", ".", "--task", ""],
        ["add", "shop", ""],
        ["add", "shop", "x", "--check", " "],
        ["respond", "1"],
        ["respond", "1", " "],
        ["respond", "1", "--approve", "--deny"],
        ["explain"],
        ["explain", "bash"],
        ["explain", "bash", "git", "status"],
        ["explain", "bash", "ls", "-la"],
        ["explain", "bash", "ls", "--jsn"],
        ["explain", "--jsonl", "--jsn"],
        ["context", ".", " "],
        ["decisions", "--risk", "foo"],
        ["decisions", "7", "--by", "rule"],
        ["graph", "."],
        ["graph", ".", "name", "--report"],
        ["graph", ".", "name", "--json", "--dot"],
        ["init", ".", "--skip-index", "--vectors"],
        ["search", ".", "queries.jsonl", "--jsonl"],
        ["search", "."],
        ["search", "where are tokens checked?"],
        ["context", "."],
        ["context", "src/auth.py"],
        ["graph", "src/auth.py"],
        ["rules", "add", "allow", "kind", " "],
        ["memory", "search", ""],
        ["devices", "pair", "phone", "--may", "everything"],
        ["budget", "set", "worries", "1"],
        ["brain", "ask", "--jsonl", "-o", "Redis"],
        ["learn", "auto", "--off", "--above", "0.9"],
        ["budget", "set", "weekly_share", "2"],
    ],
    ids=" ".join,
)
def test_a_word_that_lacks_or_contradicts_is_a_slip_of_the_fingers(typed, words):
    slip = typed(words).exception

    assert isinstance(slip, Mistyped)
    assert slip.hint


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_alone_shows_its_help_as_pcc_alone_does(typed, group):
    done = typed([group])

    assert done.exit_code == 0
    assert done.stdout.startswith("Usage: ")
    assert "..." not in done.stdout.partition("\n")[2], "each command is told of to its end"
    assert done.stderr == ""


@pytest.mark.parametrize("flags", [[], ["--json"]])
@pytest.mark.parametrize("group", ["config", "devices", "rules"])
def test_a_group_alone_lists_what_there_is_of_it(tmp_path, monkeypatch, group, flags):
    monkeypatch.setenv("HOME", str(tmp_path))
    for module in ("rules", "devices"):
        daemon = SimpleNamespace(call=lambda *_, **__: [])
        monkeypatch.setattr(
            f"perpetualcc.cli.{module}.connect", lambda *_, told=daemon: nullcontext(told)
        )
    before = ["--data-dir", str(tmp_path), group]

    alone, listed = (CliRunner().invoke(app, [*before, *more, *flags]) for more in ([], ["list"]))

    assert alone.exit_code == 0
    assert alone.stdout == listed.stdout
    assert "Usage" not in alone.stdout
    assert CliRunner().invoke(app, [*before, "--help"]).stdout.count("\n  list ") == (
        group != "config"
    ), "show is its name"


@pytest.mark.parametrize("option", ["--show-completion", "--install-completion"])
def test_a_shell_that_nothing_can_be_completed_in_is_refused(option):
    done = CliRunner().invoke(app, [option, "tcsh"])

    assert isinstance(done.exception, Mistyped)
    assert "bash, zsh, fish" in done.exception.hint


def test_what_a_rule_may_be_about_is_listed_in_the_order_of_the_help(typed):
    result = typed(["rules", "add", "allow", "url", "x"])

    assert result.exception.message == "'url' is not one of kind, command, line, path"
