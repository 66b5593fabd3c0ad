"""Requirements files in their three forms, and the ways in which they are refused."""

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.domain.requirements import Requirements, Statement, StatementKind
from perpetualcc.requirements import (
    RequirementsError,
    parse_requirements,
    parse_statements,
    read_requirements,
)
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


def test_tasks_have_ids_priorities_and_dependencies() -> None:
    tasks = {task.id: task for task in parse_requirements(MARKDOWN, "r.md").tasks}

    assert list(tasks) == ["1", "2", "3", "login", "5"]
    assert tasks["1"].done
    assert tasks["1"].priority == 10
    assert tasks["2"].priority == 5
    assert tasks["5"].depends_on == ("login",)


def test_a_task_may_wait_for_another_by_its_title() -> None:
    text = "tasks:\n  - title: Get it\n  - title: Backfill\n    depends_on: [get  It]\n"

    assert parse_requirements(text, "r.yaml").tasks[1].depends_on == ("1",)


def test_a_title_that_two_tasks_have_names_neither() -> None:
    text = "tasks:\n  - title: A\n  - title: A\n  - title: B\n    depends_on: [A]\n"

    with pytest.raises(RequirementsError, match="no task here"):
        parse_requirements(text, "r.yaml")


def test_a_nested_task_comes_before_the_one_it_is_part_of() -> None:
    auth = parse_requirements(MARKDOWN, "r.md").tasks[2]

    assert auth.depends_on == ("2", "login")
    assert auth.description == "Auth\n- uses JWT"


def test_yaml_keeps_the_line_of_every_value() -> None:
    text = (
        "project: X\ntasks:\n  - id: a\n    description: do a\n    priority: high\n"
        "  - {description: do b, depends_on: [a]}\npreferences:\n  auth: {method: JWT}\n"
        "  browsers: [chrome]\nconstraints:\n  - no redis\nmood: good\n"
    )

    read = parse_requirements(text, "r.yaml")

    assert [(one.id, one.priority, one.depends_on) for one in read.tasks] == [
        ("a", 10, ()),
        ("2", 0, ("a",)),
    ]
    preferences = said(read, StatementKind.PREFERENCE)
    assert [(one.key, one.text, one.line) for one in preferences] == [
        ("auth / method", "JWT", 8),
        ("browsers", "chrome", 9),
    ]
    assert [one.heading for one in said(read, StatementKind.OTHER)] == ["mood"]


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


def test_a_small_file_that_unfolds_without_end_is_refused() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]

    with pytest.raises(RequirementsError):
        parse_requirements("l0: &l0 [x]\n" + "\n".join(levels), "r.yaml")


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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "## Tasks\n- a (after: b)\n\n## Preferences\n- Database: MySQL\n"),
        ("a.md", "## Tasks\n- a (after: 2)\n- b (after: 1)\n\n## Preferences\n- Database: MySQL\n"),
        ("a.yaml", "tasks: [{title: a, priority: soon}]\npreferences: {database: MySQL}\n"),
        ("a.yaml", "tasks: nothing yet\npreferences: {database: MySQL}\n"),
    ],
)
def test_tasks_that_cannot_be_take_no_preference_with_them(name: str, text: str) -> None:
    with pytest.raises(RequirementsError):
        parse_requirements(text, name)

    read = parse_statements(text, name)

    assert read.tasks == ()
    assert ("database", "MySQL") in [(one.key.casefold(), one.text) for one in read.statements]


def test_priority_and_dependency_may_share_a_bracket_and_titles_may_be_shortened() -> None:
    text = """\
## Tasks
- [x] Packet format and parser (priority: high)
- [ ] Data model for rooms (priority: high, depends_on: Packet format and parser)
- [ ] Slot search endpoint (depends_on: data model, priority: low)
- [ ] Warteliste (Priorität: hoch, abhängig von: slot search)
"""

    tasks = parse_requirements(text, "r.md").tasks

    assert [task.priority for task in tasks] == [10, 10, -10, 10]
    assert [task.depends_on for task in tasks] == [(), ("1",), ("2",), ("3",)]
    assert tasks[2].description == "Slot search endpoint"


@pytest.mark.parametrize(
    ("words", "priority"),
    [
        ("Models (priority: 5)", 5),
        ("P0: Models", 20),
        ("P1: Models", 10),
        ("[P2] Models", 0),
        ("P3: Models", -10),
        ("P4 - Models", -20),
        ("Models (critical)", 20),
        ("(high) Models", 10),
        ("Models (medium)", 0),
        ("Models (low)", -10),
    ],
)
def test_a_priority_is_what_the_page_says(words: str, priority: int) -> None:
    """docs/requirements.md, *Tasks*."""
    tasks = parse_requirements(f"## Tasks\n1. {words}\n2. {words}\n", "r.md").tasks

    assert [(one.id, one.description, one.priority) for one in tasks] == [
        ("1", "Models", priority),
        ("2", "Models", priority),
    ]


def test_a_short_title_that_two_tasks_have_is_an_error() -> None:
    text = "## Tasks\n- CSV import\n- XML import\n- Report (priority: high, depends_on: import)\n"

    with pytest.raises(RequirementsError, match="import"):
        parse_requirements(text, "r.md")


def test_tasks_of_a_yaml_file_may_be_written_in_other_languages() -> None:
    text = """\
tareas:
  - {id: modelo, descripcion: Modelo de clases, prioridad: alta}
  - {id: reservas, descripcion: Reservar plaza, prioridad: baja, depende_de: [modelo]}
"""

    tasks = parse_requirements(text, "r.yaml").tasks

    assert [(task.priority, task.depends_on) for task in tasks] == [(10, ()), (-10, ("modelo",))]


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


def test_a_task_reaches_claude_as_it_was_typed() -> None:
    found = parse_markdown(
        """# X
## Tasks
- Create `src/__init__.py`, then run `rm -rf build/*` (priority: high)
- **Write tests** for src/**/*.py and *.pyi, see [the spec](docs/spec.md#a)
- Rename __main__ and `a_`, ~~then deploy~~ (after: Write tests)
""",
        "r.md",
    )

    assert [task.description for task in found.tasks] == [
        "Create `src/__init__.py`, then run `rm -rf build/*`",
        "Write tests for src/**/*.py and *.pyi, see [the spec](docs/spec.md#a)",
        "Rename __main__ and `a_`,",
    ]
    assert [task.depends_on for task in found.tasks] == [(), (), ("2",)]


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


def test_text_around_a_list_of_tasks_is_no_task() -> None:
    text = """## Tasks
Please work through these in order.

- [ ] Add a header
- [ ] Fix the export, which is a line
that an editor wrapped

**Later**
- [ ] Write the notes

<details><summary>Logs</summary>

```
- [ ] in a log
```
</details>

cc @someone

### More
1. Tag it

## To do
Login page
Logout page
"""

    read = parse_requirements(text, "issue.md")

    assert [one.description for one in read.tasks] == [
        "Add a header",
        "Fix the export, which is a line that an editor wrapped",
        "Write the notes",
        "Tag it",
        "Login page",
        "Logout page",
    ]


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


def test_a_yaml_task_keeps_all_that_is_said_of_it() -> None:
    text = """
defaults: &usual {priority: high, labels: [ui, web]}
tasks:
  - title: Login page
    description: |
      With form.
      No OAuth.
    acceptance: [locked after 5 tries, tested]
    subtasks: [{description: nested}]
  - <<: *usual
    id: b
    task: Logout
    Depends-On: 1
    priority: 3
  - <<: [*usual]
    task: Reset
    blocked by: [b]
"""

    read = parse_requirements(text, "r.yaml")

    assert [(one.description, one.priority, one.depends_on) for one in read.tasks] == [
        ("Login page\nWith form.\nNo OAuth.\n- acceptance: locked after 5 tries, tested", 0, ()),
        ("Logout\n- labels: ui, web", 3, ("1",)),
        ("Reset\n- labels: ui, web", 10, ("b",)),
    ]  # fmt: skip


def test_tabs_in_yaml_are_named_in_the_hint() -> None:
    with pytest.raises(RequirementsError) as refused:
        parse_requirements("tasks:\n\t- a\n", "r.yaml")

    assert refused.value.hint == "Indent with spaces, not tabs"


def test_thousands_of_tasks_are_read_while_one_waits() -> None:
    most = 3_000
    lines = [f"- Do thing {n} (id: T{n}) (after: T{n - 1})" for n in range(2, most + 1)]
    text = "\n".join(["# X", "## Tasks", "- Do thing 1 (id: T1)", *lines])
    begun = time.process_time()

    found = parse_markdown(text, "r.md")

    assert time.process_time() - begun < 5
    assert [task.depends_on for task in found.tasks[:3]] == [(), ("T1",), ("T2",)]
    assert len(found.tasks) == most
