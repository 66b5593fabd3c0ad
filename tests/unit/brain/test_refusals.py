"""Yes/no questions about what the requirements refuse, in whatever words the options have."""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements

REFUSING = """\
# Project: Tree register

## Decisions
- Tablet layout: not in version 1
- encryption: not now, the disks are encrypted anyway
- There is a light theme and nothing else: dark mode was discussed and dropped.
- Windows: supported
- No names, phone numbers or e-mail addresses in the logs
- not_supported: macOS, Solaris
"""
BRAIN = RuleBasedBrain(parse_statements)


def ask(text: str, *labels: str) -> tuple[str, ...]:
    question = Question(text=text, options=tuple(Option(label=label) for label in labels))
    context = QuestionContext(project="", requirements_text=REFUSING, requirements_path="r.md")
    return BRAIN.answer(question, context).selected


@pytest.mark.parametrize(
    ("text", "labels", "declining"),
    [
        ("Should I add a tablet layout?", ("Yes, two panes", "No, phones only"), 1),
        ("Should I add a dark theme?", ("Light only", "Light and dark"), 0),
        ("Should photos be encrypted?", ("AES-GCM", "age", "Leave it out"), 2),
        ("Should request logs contain e-mail addresses?", ("Include them", "Only the id"), 1),
        ("Should I add Solaris to the build matrix?", ("Yes, add it", "No, leave it out"), 1),
    ],
)
def test_what_is_refused_is_declined(text: str, labels: tuple[str, ...], declining: int) -> None:
    assert ask(text, *labels) == (labels[declining],)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Should I cache the encrypted photos?", ("Yes", "No")),
        ("Should I add Windows to the build matrix?", ("Yes, add it", "No, leave it out")),
        ("Should the forms contain e-mail addresses?", ("Include them", "Only the id")),
        ("Should I add a print layout?", ("A4 and A3", "A4 only")),
    ],
)
def test_what_only_sounds_alike_is_not_declined(text: str, labels: tuple[str, str]) -> None:
    assert ask(text, *labels) != (labels[1],)


LISTED = """\
# Project: Ferry desk

## Constraints
- No analytics or crash reporting SDKs
- Do not use Redis or any other extra service
- Pas de Matomo ni d'autre outil de suivi
- No Sphinx or Jekyll until the second version
- Never use GraphQL or SOAP
"""


def ask_listed(text: str) -> tuple[str, ...]:
    question = Question(text=text, options=(Option(label="Yes"), Option(label="No")))
    context = QuestionContext(project="", requirements_text=LISTED, requirements_path="r.md")
    return BRAIN.answer(question, context).selected


@pytest.mark.parametrize(
    "text",
    [
        "Should I add the Sentry SDK for crash reporting?",
        "Should I add Redis for the sessions?",
        "Should I introduce Redis as a cache for the timetable?",
        "Dois-je ajouter Matomo pour compter les visites ?",
        "Should I add SOAP for the partner port?",
        "Should I add GraphQL beside REST?",
    ],
)
def test_each_thing_of_a_list_that_is_refused_is_declined(text: str) -> None:
    assert ask_listed(text) == ("No",)


@pytest.mark.parametrize(
    "text",
    [
        "Should I add Sphinx for the docs?",
        "Should I add Sentry for performance traces?",
        "Should I report a crash in the status bar?",
        "Should I add a service for the timetable?",
        "Should I replace Redis by a dictionary?",
    ],
)
def test_what_is_only_near_a_list_that_is_refused_is_not_declined(text: str) -> None:
    assert ask_listed(text) == ()


UNGUARDED = """\
# Project: Berth ledger

## Constraints
- No rate limit, no monitoring of failed logins
- No escaping of user input
- No rollback
- No telemetry of errors
- No copied code
- No backups in version 1
- No dark theme
- Kein Ratenlimit, keine Überwachung
"""


def ask_unguarded(text: str) -> tuple[str, ...]:
    question = Question(text=text, options=(Option(label="Yes"), Option(label="No")))
    context = QuestionContext(project="", requirements_text=UNGUARDED, requirements_path="r.md")
    return BRAIN.answer(question, context).selected


@pytest.mark.parametrize(
    "text",
    [
        "Should I add a rate limit to the login?",
        "Should I add monitoring of failed logins?",
        "Should I add escaping of user input?",
        "Should I implement a rollback?",
        "Should the deployment script have a rollback?",
        "Should I add telemetry of errors?",
        "Should I add telemetry for errors?",
        "Should I add a notice for copied code?",
        "Should I list the copied code?",
        "Should I add backups?",
        "Should the login have a rate limit?",
        "May I remove the rate limit from the login?",
        "Soll ich eine Überwachung einbauen?",
    ],
)
def test_doing_without_a_safeguard_is_a_persons(text: str) -> None:
    assert ask_unguarded(text) == ()


@pytest.mark.parametrize(
    "text", ["Should I add a dark theme?", "Should I add a dark theme for the backups?"]
)
def test_beside_safeguards_a_feature_is_still_declined(text: str) -> None:
    assert ask_unguarded(text) == ("No",)
