"""The tasks of a requirements file: their order, their ids, their words."""

import time

import pytest

from perpetualcc.requirements import RequirementsError, parse_requirements, parse_statements
from perpetualcc.requirements.markdown import parse_markdown
from tests.unit.requirements.test_requirements import MARKDOWN


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


def test_thousands_of_tasks_are_read_while_one_waits() -> None:
    most = 3_000
    lines = [f"- Do thing {n} (id: T{n}) (after: T{n - 1})" for n in range(2, most + 1)]
    text = "\n".join(["# X", "## Tasks", "- Do thing 1 (id: T1)", *lines])
    begun = time.process_time()

    found = parse_markdown(text, "r.md")

    assert time.process_time() - begun < 5
    assert [task.depends_on for task in found.tasks[:3]] == [(), ("T1",), ("T2",)]
    assert len(found.tasks) == most
