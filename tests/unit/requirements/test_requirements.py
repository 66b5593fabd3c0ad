"""Requirements files in their three forms, and the ways in which they are refused."""

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.domain.requirements import Requirements, Statement, StatementKind
from perpetualcc.requirements import RequirementsError, parse_requirements, read_requirements
from perpetualcc.requirements.markdown import parse_markdown

MARKDOWN = """\
# Project: Shop

## Overview
A small shop. It replaces
an old one.

## Tasks
- [x] Set up [P1]
- [ ] Models (priority: 5)
- [ ] Auth (after: 2)
  - uses JWT
  - [ ] Login (id: login)
- [ ] Report (depends on: login)

## Preferences
- Database: PostgreSQL
- **ORM**: SQLAlchemy
- **Auth:** JWT
- Use Redis for caching
- Browsers:
  - Chrome
  - Firefox

| Area | Choice |
|------|--------|
| Port | 8080   |

## Constraints
- No external services

## Release diary
Friday: nothing.
"""


def said(read: Requirements, kind: StatementKind) -> list[Statement]:
    return [one for one in read.statements if one.kind is kind]


def test_markdown_becomes_tasks_preferences_constraints_and_text() -> None:
    read = parse_requirements(MARKDOWN, "r.md")

    assert read.project == "Shop"
    assert [one.text for one in said(read, StatementKind.OVERVIEW)] == [
        "A small shop.",
        "It replaces",
        "an old one.",
    ]
    preferences = said(read, StatementKind.PREFERENCE)
    assert [(one.key, one.text, one.line) for one in preferences] == [
        ("Database", "PostgreSQL", 16),
        ("ORM", "SQLAlchemy", 17),
        ("Auth", "JWT", 18),
        ("caching", "Redis", 19),
        ("Browsers", "Chrome", 21),
        ("Browsers", "Firefox", 22),
        ("Port", "8080", 26),
    ]
    constraints = said(read, StatementKind.CONSTRAINT)
    assert [one.text for one in constraints] == ["No external services"]
    [other] = said(read, StatementKind.OTHER)
    assert (other.heading, other.key, other.text) == ("Release diary", "Friday", "nothing.")


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("## Vorlieben", StatementKind.PREFERENCE),
        ("## TECH STACK", StatementKind.PREFERENCE),
        ("## 2. Restricciones", StatementKind.CONSTRAINT),
        ("## Contraintes", StatementKind.CONSTRAINT),
        ("## 制約", StatementKind.CONSTRAINT),
        ("Preferences:", StatementKind.PREFERENCE),
        ("PREFERENCES", StatementKind.PREFERENCE),
        ("Constraints\n-----------", StatementKind.CONSTRAINT),
        ("## Weather", StatementKind.OTHER),
    ],
)
def test_headings_are_known_in_many_spellings(heading: str, kind: StatementKind) -> None:
    read = parse_requirements(f"# T\n\n{heading}\n- Database: X\n", "r.md")

    assert read.statements[-1].kind is kind


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("r.md", "", "r.md: empty"),
        ("r.md", " \n\t\n", "r.md: empty"),
        ("r.md", "a\nb\0c", "r.md:2: not a text file"),
        ("r.md", "x" * (1024 * 1024 + 1), "r.md: larger than 1 MB"),
        ("r.md", "## Tasks\n- [ ] a (after: 7)\n", "r.md:2: task '1' depends on '7'"),
        ("r.md", "## Tasks\n- a (id: x)\n- b (id: x)\n", "r.md:3: task id 'x' is taken by line 2"),
        ("r.md", "## Tasks\n- a (after: 2)\n- b (after: 1)\n", "r.md:2: tasks wait for each other"),
        ("r.yaml", "a: [1", "r.yaml:1: not valid YAML"),
        ("r.yaml", "- a\n- b\n", "r.yaml:1: must be a mapping"),
        ("r.yaml", "tasks: 7\n", "r.yaml:1: `tasks` must be a list"),
        ("r.yaml", "tasks:\n  - id: a\n", "r.yaml:2: a task needs a `description`"),
        (
            "r.yaml",
            "tasks:\n  - {description: a, priority: soon}\n",
            "r.yaml:2: `priority` must be a number, not 'soon'",
        ),
        (
            "r.yaml",
            "tasks:\n  - a\n  - description: b\n    depend_on: 1\n",
            "r.yaml:4: a task has no field 'depend_on'",
        ),
        ("r.yaml", "tasks:\n  - &t {<<: *t, description: a}\n", "r.yaml:2: nested too deeply"),
        ("r.yaml", "a: &a [*a]\n", "r.yaml:1: nested too deeply, or in a circle"),
        ("r.yaml", "a: " + "[" * 500, "r.yaml:1: nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(
    name: str, text: str, problem: str
) -> None:
    with pytest.raises(RequirementsError) as refused:
        parse_requirements(text, name)

    assert refused.value.message.startswith(problem)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "r.md"
    binary.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")

    with pytest.raises(RequirementsError, match="not a text file"):
        read_requirements(binary)
    with pytest.raises(RequirementsError, match="cannot be read"):
        read_requirements(tmp_path)


@pytest.mark.parametrize("text", [MARKDOWN, "Database: PostgreSQL; " * 20, "\n\n"])
def test_text_where_a_path_is_wanted_is_called_so_and_not_repeated(text: str) -> None:
    with pytest.raises(RequirementsError, match="the path of a file is wanted") as caught:
        read_requirements(Path(text))

    assert len(caught.value.message) < 120
    assert caught.value.hint == "Write the text to a file, and give its path"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "r.md"
    file.write_bytes("# Project: Ä\n".encode("utf-16"))

    assert read_requirements(file).project == "Ä"


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    for name in ("r.md", "r.yaml"):
        try:
            read = parse_requirements(text, name)
        except RequirementsError:
            continue
        assert all(one.line >= 1 for one in read.statements)


@given(
    st.lists(
        st.sampled_from(
            ["# A", "## Tasks", "## Preferences", "- [ ] a", "  - [x] b", "- k: v", "| a | b |",
             "|--|--|", "| a | b | c | d |", "||", "text. Text", "```", "---", "", "  more",
             "1. x (after: 1)", "**K**: v"]
        ),
        max_size=25,
    )
)  # fmt: skip
def test_any_mix_of_lines_keeps_the_words_on_their_lines(lines: list[str]) -> None:
    try:
        read = parse_requirements("\n".join(lines), "r.md")
    except RequirementsError:
        return

    for one in read.statements:
        assert one.text.split()[0].strip("*|:") in "\n".join(lines[one.line - 1 :])


def _quoted(text):
    return [(one.line, one.quote) for one in parse_requirements(text, "notes.txt").statements]


def test_lines_of_a_list_without_bullets_are_not_taken_for_one_wrapped_sentence():
    lines = [
        "Dark theme is the default",
        "Members log in with their card number; staff log in with their e-mail",
        "Loans last 21 days",
        "E-mails go out through our own SMTP server unless it is down, then Mailgun is used",
        "Sort by title, not by author",
    ]

    assert _quoted("\n".join(lines)) == list(enumerate(lines, start=1))


def test_a_wrapped_sentence_is_quoted_whole_with_the_line_on_which_it_begins():
    text = (
        "The shop is for handmade lamps and it should be small. For the database we\n"
        "will use PostgreSQL because everyone in the team knows it. Tests are written\n"
        "with pytest and nothing else, please.\n"
    )

    assert _quoted(text) == [
        (1, "The shop is for handmade lamps and it should be small."),
        (1, "For the database we will use PostgreSQL because everyone in the team knows it."),
        (2, "Tests are written with pytest and nothing else, please."),
    ]


def test_code_in_a_preference_keeps_its_underscores() -> None:
    found = parse_markdown("## Preferences\n- Entry point: `src/__main__.py`\n", "r.md")

    assert [line.text for line in found.statements] == ["src/__main__.py"]


def test_a_row_that_is_longer_than_its_header_is_read() -> None:
    found = parse_markdown(
        "## Preferences\n| Topic | Choice |\n|---|---|\n| Database | MySQL | for now | x |\n",
        "r.md",
    )

    assert [line.text for line in found.statements] == ["MySQL", "for now", "x"]


@pytest.mark.parametrize("unit", ["[", "![", "[a](", "`", "``", "- ", "<!--", "(", "\x1b[31m "])
@pytest.mark.parametrize("begin", ["", "- [ ] "])
def test_a_line_that_is_no_persons_is_read_in_no_time(begin: str, unit: str) -> None:
    """It was pasted by mistake; the engine, which reads it, must not hang over it."""
    begun = time.process_time()

    with suppress(RequirementsError):
        parse_markdown(f"# X\n\n## Tasks\n{begin}{unit * 20_000}\n", "r.md")

    assert time.process_time() - begun < 2


def test_a_links_target_may_hold_brackets() -> None:
    line = "- Licence: [MIT](https://en.example.org/wiki/Licence_(software)), and no other"
    found = parse_markdown(f"## Preferences\n{line}\n", "r.md")

    assert [line.text for line in found.statements] == ["MIT, and no other"]


@pytest.mark.parametrize(
    "text",
    [
        "## Tasks\n" + "".join(f"- [ ] Task {number} do\n" for number in range(10_000)),
        "## Tasks\n- [ ] x " + "(after: " * 30_000,
        "<!--" * 200_000,
        "word. Word " * 30_000,
    ],
    ids=["tasks", "brackets", "comments", "sentences"],
)
def test_a_large_file_is_read_in_a_time_that_grows_with_it(text: str) -> None:
    started = time.process_time()

    parse_requirements(text, "large.md")

    assert time.process_time() - started < 10


def test_a_pipe_in_a_cell_is_a_pipe() -> None:
    text = "## Preferences\n| Key | Value |\n|---|---|\n| Shell | a \\| b |\n"

    [row] = said(parse_requirements(text, "t.md"), StatementKind.PREFERENCE)
    assert row.text == "a | b"
