"""A plan that is told first, and leave is asked to go on with it."""

import pytest

from perpetualcc.brain.rule_based import PROCEED, RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements

REQUIREMENTS = """# Project: Relay
## Tasks
- [x] Project skeleton
- [ ] Delivery worker with retries
- [ ] Drift tables for plants and the list screen
- [ ] Exportmodul für die Buchhaltung
## Preferences
- Language: Go
"""


def _ask(text: str, yes: str = "Yes", no: str = "No") -> tuple[tuple[str, ...], float]:
    question = Question(text=text, header="Proceed", options=(Option(label=yes), Option(label=no)))
    context = QuestionContext(
        project="", requirements_text=REQUIREMENTS, requirements_path="relay.md"
    )
    answer = RuleBasedBrain(parse_statements).answer(question, context)
    return answer.selected, answer.confidence


@pytest.mark.parametrize(
    "text",
    [
        (
            "I have a plan for the delivery worker: a polling loop, a backoff helper and tests. "
            "Should I proceed?"
        ),
        (
            "My plan is to add the Drift tables for plants, then the list screen, then its widget "
            "tests. Should I proceed?"
        ),
        "The plan for the delivery worker is ready: three new files. Should I proceed?",
        (
            "Here is my plan for the delivery worker: first the queue, then retries. Shall I go "
            "ahead?"
        ),
    ],
)
def test_a_plan_to_build_a_task_is_gone_on_with(text: str) -> None:
    assert _ask(text) == (("Yes",), PROCEED)


@pytest.mark.parametrize(
    "text",
    [
        "I have a plan for a billing page: a form and a table. Should I proceed?",
        (
            "I have a plan for the delivery worker: drop the old queue table and write a new one. "
            "Should I proceed?"
        ),
        "My plan for the delivery worker is to push it to the staging server. Should I proceed?",
        "My plan is to rewrite the delivery worker in Rust. Should I proceed?",
        "My plan for the delivery worker is to skip the tests for now. Should I proceed?",
        "The plan shows 4 to add and 1 to destroy for the delivery worker. Should I proceed?",
        "My plan for the delivery worker is to buy a message queue. Should I proceed?",
        "I have a plan for the delivery worker, but two tests fail. Should I proceed?",
        "My plan for the delivery worker touches the existing production data. Should I proceed?",
        "My plan for the delivery worker is to replace Go with Python. Should I proceed?",
    ],
)
def test_a_plan_of_something_else_is_a_persons(text: str) -> None:
    selected, confidence = _ask(text)

    assert not selected or confidence < 0.7
