"""Widths, cuts, boxes: what a terminal of any size and any script gets."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from perpetualcc.cli import look
from perpetualcc.cli.main import app
from perpetualcc.domain.texts import counted, thousands

_TEXTS = st.text(alphabet="aé漢字🚀👩\u200d💻\u0301❤\ufe0f\uff46 …\t\n", max_size=60)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("plain", 5),
        ("schön", 5),
        ("scho\u0308n", 5),
        ("漢字", 4),
        ("\uff46\uff55", 4),
        ("ﾊﾝｶｸ", 4),
        ("🚀", 2),
        ("👩\u200d💻", 2),
        ("❤\ufe0f", 2),
        ("👍🏽", 2),
        ("\u200da", 1),
        ("1\ufe0f", 1),
        ("✓ done", 6),
        ("שלום", 4),
    ],
)
def test_a_text_takes_the_columns_that_a_terminal_gives_it(text: str, columns: int) -> None:
    assert look.width(text) == columns


@given(_TEXTS, st.integers(1, 30))
def test_what_is_fitted_fits(text: str, columns: int) -> None:
    fitted = look.fit(text, columns)

    assert look.width(fitted) <= columns
    assert "\n" not in fitted


@given(_TEXTS)
def test_what_fits_already_stays(text: str) -> None:
    line = text.replace("\n", " ").replace("\t", " ").strip()

    assert look.fit(line, 1000) == line


@given(_TEXTS, st.integers(2, 30))
def test_what_is_wrapped_fits_and_is_whole(text: str, columns: int) -> None:
    lines = look.wrapped(text, columns)

    assert all(look.width(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == look.one_line(text).replace(" ", "")


@pytest.mark.parametrize("columns", [24, 30, 40, 80, None])
def test_what_to_type_is_whole_on_any_terminal(columns, monkeypatch) -> None:
    monkeypatch.setattr(look, "terminal_width", lambda: columns)
    cell = "Build the shop\nIt waits for your answer to #3: pcc respond 3 --interactive"

    drawn = look.table(["ID", "Name", "Task"], [["c76f03", "night-shift", cell]])

    told = " ".join(re.sub("[│─┌┬┐├┼┤└┴┘]", " ", drawn).split())
    assert "pcc respond 3 --interactive" in told
    assert all(look.width(line) <= (columns or 80) for line in drawn.splitlines())


def test_the_first_line_that_says_something_is_taken() -> None:
    assert look.fit("\n\n  first\nsecond", 20) == "first"


def test_a_very_long_line_is_cut_at_once() -> None:
    assert look.fit("漢" * 3_000_000, 5) == "漢漢…"


def test_nothing_that_could_steer_a_terminal_gets_through() -> None:
    hostile = "a\x1b[2Jb\x07c\x9bd\u202ee\r"

    assert look.printable(hostile) == "a�[2Jb�c�d�e�"


@given(st.lists(st.lists(_TEXTS, min_size=2, max_size=2), max_size=5))
def test_every_line_of_a_table_is_as_wide_as_the_others(rows: list[list[str]]) -> None:
    drawn = look.table(["Name", "Task"], rows).splitlines()

    assert len({look.width(line) for line in drawn}) == 1


@pytest.mark.parametrize("columns", [200, 80, 60, 40])
def test_a_table_keeps_within_the_terminal(columns: int, monkeypatch) -> None:
    monkeypatch.setattr(look, "terminal_width", lambda: columns)
    row = [
        "c76f03",
        "schön-🚀-night-shift",
        "⏳ Limited",
        "漢字" * 30 + "\nResumes: 17:30",
        "1K/200K",
    ]

    drawn = look.table(["ID", "Name", "Status", "Current Task", "Tokens"], [row]).splitlines()

    assert max(look.width(line) for line in drawn) <= columns
    assert any("Resumes" in line for line in drawn)
    assert any("Limited" in line for line in drawn), "a state is never cut to a letter"


@pytest.mark.parametrize("columns", range(30, 90))
def test_a_status_a_number_and_a_header_s_words_are_whole_on_any_terminal(
    columns: int, monkeypatch
) -> None:
    monkeypatch.setattr(look, "terminal_width", lambda: columns)
    row = ["c76f03", "night-shift", "✓ Completed", "Write the word counter that it asks", "14K/1M"]

    drawn = look.table(["ID", "Name", "Status", "Current Task", "Context Tokens"], [row])

    for whole in ("c76f03", "✓ Completed", "14K/1M", "Context", "Tokens"):
        assert whole in drawn
    assert max(map(look.width, drawn.splitlines())) <= columns


@pytest.mark.parametrize("columns", [40, 30])
def test_a_table_that_is_too_wide_for_the_terminal_is_told_in_lines(columns, monkeypatch) -> None:
    monkeypatch.setattr(look, "terminal_width", lambda: columns)
    row = [
        *("11-26 07:15:27", "abc123", "Which database should it be?\n→ PostgreSQL"),
        *("", "answer", "a person answered, and said why at length"),
    ]

    drawn = look.table(["When", "Session", "Call", "Risk", "Verdict", "Why"], [row]).splitlines()

    assert drawn[:2] == ["11-26 07:15:27", "  Session  abc123"]
    assert "           → PostgreSQL" in drawn
    assert not any("Risk" in line for line in drawn)
    assert max(look.width(line) for line in drawn) <= columns


@pytest.mark.parametrize("columns", [None, 100, 40])
def test_a_panel_keeps_within_the_terminal(columns: int | None, monkeypatch) -> None:
    monkeypatch.setattr(look, "terminal_width", lambda: columns)

    drawn = look.panel("PerpetualCC Session: 漢字-🚀", ["Project: /" + "long/" * 20]).splitlines()

    assert len({look.width(line) for line in drawn}) == 1
    assert columns is None or look.width(drawn[0]) <= columns


def test_output_that_goes_to_a_file_is_never_cut(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")

    assert look.terminal_width() is None, "pytest's output is no terminal"
    assert "x" * 90 in look.table(["Task"], [["x" * 90]])


@pytest.mark.parametrize(
    ("is_terminal", "variables", "shown"),
    [
        (True, {}, "\x1b[32mgood\x1b[0m"),
        (True, {"NO_COLOR": "1"}, "good"),
        (False, {}, "good"),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    is_terminal: bool, variables: dict[str, str], shown: str, monkeypatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)

    assert look.coloured("good", "green") == shown


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1K"),
        (4_872, "4.9K"),
        (9_960, "10K"),
        (45_678, "46K"),
        (999_499, "999K"),
        (999_500, "1M"),
        (1_000_000, "1M"),
        (1_234_567, "1.23M"),
        (2_000_000_000, "2000M"),
    ],
)
def test_tokens_are_shown_in_thousands(tokens: int, shown: str) -> None:
    assert re.fullmatch(r"[\d.]+[KM]?", thousands(tokens))
    assert thousands(tokens) == shown


def test_a_coloured_cell_keeps_its_table_straight(monkeypatch) -> None:
    plain = look.table(["A", "B"], [["1", "ok"], ["2", "no"]])
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(look, "terminal_width", lambda: 80)

    drawn = look.table(["A", "B"], [["1", "ok"], ["2", "no"]], colours=["green", ""])

    assert "\x1b[32m ok \x1b[0m" in drawn
    assert drawn.replace("\x1b[32m", "").replace("\x1b[0m", "") == plain


def test_the_column_that_names_a_row_is_never_cut(monkeypatch) -> None:
    monkeypatch.setattr(look, "terminal_width", lambda: 40)

    drawn = look.table(["ID", "Name", "Task"], [["c76f03", "night-shift", "Long work " * 9]])

    assert "│ c76f03 │" in drawn


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1200, "1,200 files")]
)
def test_a_number_of_things_is_singular_or_plural(number: int, said: str) -> None:
    assert counted(number, "file") == said


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "bash", "ls"],
        ["config", "get", "max_concurrent"],
        ["learn", "status"],
        ["memory", "search", "x"],
        ["memory", "facts", "."],
        ["brain", "ask", "Which?", "-o", "this", "-o", "that"],
        ["daemon", "status"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_json_is_printed_for_eyes_too(words, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    shown = CliRunner().invoke(app, ["--data-dir", str(tmp_path / "data"), *words, "--json"]).stdout

    assert shown == json.dumps(json.loads(shown), indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("columns", [40, 80])
def test_what_a_line_has_no_room_for_stands_below_its_text(columns, monkeypatch):
    monkeypatch.setattr("perpetualcc.cli.look.terminal_width", lambda: columns)
    line = "[12:00:00] Claude: one sentence of several words, " + "and more of them " * 4

    first, *more = look.hung(line.rstrip()).splitlines()

    assert more
    assert all(look.width(one) <= columns for one in (first, *more))
    assert {one[:19] for one in more} == {" " * 19}
    assert " ".join([first, *(one.strip() for one in more)]) == line.rstrip()


def test_a_value_that_has_no_room_goes_on_below_itself_and_not_below_its_name(monkeypatch):
    monkeypatch.setattr("perpetualcc.cli.look.terminal_width", lambda: 40)

    lines = look.hung("Status:      Limited - the budget of the day is used up").splitlines()

    assert lines == [
        "Status:      Limited - the budget of the",
        "             day is used up",
    ]
    assert (
        look.hung("A sentence: with a colon that has no room in it").splitlines()[1] == "room in it"
    )


def test_notes_errors_and_findings_are_broken_below_their_text(monkeypatch, capsys):
    monkeypatch.setattr("perpetualcc.cli.look.terminal_width", lambda: 30)

    look.tell("note: it was started without your KEY, URL\nhint:  pcc daemon restart now please")

    assert capsys.readouterr().err.splitlines() == [
        "note: it was started without",
        "      your KEY, URL",
        "hint:  pcc daemon restart now",
        "       please",
    ]
    assert look.hung("\x1b[31m✗\x1b[0m Not signed in here to Claude: pcc login").splitlines() == [
        "\x1b[31m✗\x1b[0m Not signed in here to",
        "  Claude: pcc login",
    ]


def test_what_fits_and_what_has_no_blank_stay_as_they_are(monkeypatch):
    monkeypatch.setattr("perpetualcc.cli.look.terminal_width", lambda: 30)
    coloured = "[12:00:00] \x1b[32mdone and done\x1b[0m"

    assert look.hung(coloured) == coloured
    assert look.hung("  a   table  of  two") == "  a   table  of  two"
    assert look.hung("see /" + "long" * 20) == "see\n/" + "long" * 20
