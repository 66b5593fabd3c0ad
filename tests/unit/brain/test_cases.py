"""Lines that say one thing for one case and another for the next."""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements

BRAIN = RuleBasedBrain(parse_statements)
THEME = "Colours: dark theme is the default, light theme can be switched on."
LOGS = "Logging: JSON in production, plain text on laptops"
NET = "Prices include VAT by default; net prices can be turned on for companies"
GUESTS = "Guests may order without an account; companies need one"

ALERTS = "Alerts: PagerDuty when the deadline is at risk, everything else goes to the Slack channel"


def answered(line: str, asked: str, *labels: str) -> tuple[str, ...]:
    question = Question(
        text=asked,
        header="",
        multi_select=False,
        options=tuple(Option(label=label) for label in labels),
    )
    context = QuestionContext(
        project="",
        requirements_text=f"# X\n\n## Constraints\n\n- {line}\n",
        requirements_path="requirements.md",
    )
    return BRAIN.answer(question, context).selected


@pytest.mark.parametrize(
    ("line", "asked", "labels"),
    [
        (THEME, "What should the default theme be?", ("Light", "Follow the system")),
        (NET, "Which prices should be shown by default?", ("Net", "Gross")),
        (LOGS, "What log format should CI use?", ("Plain text", "JSON")),
        (
            "Log level in production is WARN",
            "Which log level should the debug build have?",
            ("DEBUG", "INFO", "WARN"),
        ),
        (GUESTS, "Do companies need an account to order?", ("Yes", "No")),
        (ALERTS, "Where should the alerts of a late file go?", ("PagerDuty", "Slack", "Both")),
    ],
)
def test_a_case_that_the_line_does_not_speak_of_is_left_to_a_person(
    line: str, asked: str, labels: tuple[str, ...]
) -> None:
    assert answered(line, asked, *labels) == ()


@pytest.mark.parametrize(
    ("line", "asked", "labels", "right"),
    [
        (GUESTS, "Do guests need an account to order?", ("Yes", "No"), "No"),
        (
            "Emails are sent in German by default, in English if the user chose it",
            "In which language should emails be sent by default?",
            ("English", "German"),
            "German",
        ),
        (
            "Backups: nightly for the database, weekly for uploads",
            "How often should uploads be backed up?",
            ("Nightly", "Weekly", "Monthly"),
            "Weekly",
        ),
    ],
)
def test_the_case_that_is_asked_for_answers(
    line: str, asked: str, labels: tuple[str, ...], right: str
) -> None:
    assert answered(line, asked, *labels) == (right,)


@pytest.mark.parametrize(
    ("line", "chosen"),
    [
        ("Entry file: `src/__main__.py`", ("src/__main__.py",)),
        ("Entry file: src/__main__.py", ()),
        ("Entry file: `src/main.py` or `src/__main__.py`", ()),
    ],
)
def test_signs_alone_tell_two_options_apart_where_markdown_keeps_them(line, chosen) -> None:
    assert answered(line, "Which entry file?", "src/main.py", "src/__main__.py") == chosen
