"""Requirements as YAML."""

import pytest

from perpetualcc.domain.requirements import StatementKind
from perpetualcc.requirements import RequirementsError, parse_requirements
from tests.unit.requirements.test_requirements import said


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


def test_a_small_file_that_unfolds_without_end_is_refused() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]

    with pytest.raises(RequirementsError):
        parse_requirements("l0: &l0 [x]\n" + "\n".join(levels), "r.yaml")


def test_tasks_of_a_yaml_file_may_be_written_in_other_languages() -> None:
    text = """\
tareas:
  - {id: modelo, descripcion: Modelo de clases, prioridad: alta}
  - {id: reservas, descripcion: Reservar plaza, prioridad: baja, depende_de: [modelo]}
"""

    tasks = parse_requirements(text, "r.yaml").tasks

    assert [(task.priority, task.depends_on) for task in tasks] == [(10, ()), (-10, ("modelo",))]


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
