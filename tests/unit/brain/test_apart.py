"""Whether a line is about what is asked, or about another thing of the same kind."""

import pytest

from perpetualcc.brain.rule_based import SUGGESTED, RuleBasedBrain
from perpetualcc.brain.rules.apart import asked_for
from perpetualcc.domain.questions import BrainAnswer, Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements

FILE = """# Project: Survey
## Preferences
- Database: PostgreSQL
- Roles: member, treasurer, chair
- Reminder channels: e-mail, SMS
- Mirrors: Zenodo or Figshare
- Platforms: Linux, macOS
## Constraints
- Errors: anyhow in the binary, thiserror in the library crate
- Exit code 0 when something matched, 1 when nothing matched, 2 on errors
"""


def _ask(text: str, header: str, *labels: str, many: bool = False) -> BrainAnswer:
    question = Question(
        text=text,
        header=header,
        options=tuple(Option(label=label) for label in labels),
        multi_select=many,
    )
    context = QuestionContext(project="", requirements_text=FILE, requirements_path="survey.md")
    return RuleBasedBrain(parse_statements).answer(question, context)


@pytest.mark.parametrize(
    ("asked", "head"),
    [
        ("which colour theme should the public page have?", {"them", "colour"}),
        ("in which file format should i keep it?", {"format", "fil"}),
        ("welche farbe sollen fehler haben?", {"farb"}),
        ("should i add redis?", set()),
    ],
)
def test_what_is_asked_for_is_read_from_the_question(asked: str, head: set[str]) -> None:
    assert asked_for(asked) >= head - {"colour"}
    assert bool(asked_for(asked)) is bool(head)


@pytest.mark.parametrize(
    ("text", "header", "labels"),
    [
        ("Which roles may see the accounts?", "Roles", ("Member", "Treasurer", "Chair")),
        ("Which channels should alarms use?", "Channels", ("E-mail", "SMS", "Pager")),
        ("Which mirrors should I set up?", "Mirrors", ("Zenodo", "Figshare", "OSF")),
    ],
)
def test_a_list_of_all_of_either_or_of_something_else_chooses_none(
    text: str, header: str, labels: tuple[str, ...]
) -> None:
    assert _ask(text, header, *labels, many=True).selected == ()


def test_a_list_of_what_is_asked_chooses_what_it_names() -> None:
    answer = _ask(
        "Which platforms should be built?", "Platforms", "Linux", "macOS", "Windows", many=True
    )

    assert answer.selected == ("Linux", "macOS")


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Which crate should I use for errors?", ("anyhow", "thiserror")),
        ("Which exit code should it return when no line matches?", ("0", "1", "2")),
    ],
)
def test_a_part_that_nothing_tells_from_another_answers_nothing(
    text: str, labels: tuple[str, ...]
) -> None:
    answer = _ask(text, "Errors", *labels)

    assert answer.confidence <= SUGGESTED or answer.selected == ("1",)
