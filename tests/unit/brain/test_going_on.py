"""Leave to go on, and to do what anybody would, in several languages."""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements

BRAIN = RuleBasedBrain(parse_statements)
YARD = """\
# Project: Boat yard

## Tasks
- [ ] Berth list with search
- [ ] Delivery worker with exponential backoff
- [ ] Usage metering per account

## Preferences
- Tests: pytest
- Linter: ruff

## Constraints
- Do not use GORM
- Deliveries are retried at most 8 times
"""


def ask(text: str, requirements: str = YARD, labels: tuple[str, str] = ("Yes", "No")) -> str:
    question = Question(text=text, options=tuple(Option(label=label) for label in labels))
    context = QuestionContext(
        project="", requirements_text=requirements, requirements_path="requirements.md"
    )
    answer = BRAIN.answer(question, context)
    return answer.selected[0] if answer.selected and answer.confidence >= 0.7 else ""


@pytest.mark.parametrize(
    "text",
    [
        "Should I run the pytest suite before I go on to the grouping?",
        "The parser is done. Should I run ruff before I start the next task?",
        "Should I run the linter once?",
        "May I run the type checker first?",
        "Should I run mypy before we continue?",
        "Should I build once before I go on?",
        "Soll ich die Tests ausführen, bevor ich weitermache?",
        "Soll ich zuerst den Linter laufen lassen?",
        "Dois-je lancer les tests avant de continuer ?",
        "¿Debo ejecutar el linter antes de continuar?",
        "Devo eseguire i test prima di continuare?",
        "Devo rodar os testes antes de continuar?",
        "Moet ik de tests draaien voordat ik verderga?",
        "是否先运行一下测试？",
        "先にテストを実行しますか？",
        "먼저 테스트를 실행할까요?",
    ],
)
def test_a_local_check_is_run(text: str) -> None:
    assert ask(text) == "Yes"


@pytest.mark.parametrize(
    "text",
    [
        "Should I run the pytest suite against the staging database?",
        "Should I run the load tests against the live server?",
        "Should I run the pytest suite and then push the branch?",
        "Should I run ruff and upgrade the dependencies?",
        "Should I run the linter or the formatter?",
        "Should I skip the tests before I go on?",
        "Should I run the tests in the customer's account?",
        "Should I run the migration before I go on?",
        "Soll ich die Tests überspringen, bevor ich weitermache?",
        "Soll ich die Tests auf dem Server ausführen und dann veröffentlichen?",
        "Dois-je lancer la migration avant de continuer ?",
        "¿Debo ejecutar los tests contra la base de datos de producción?",
        "是否跳过测试？",
    ],
)
def test_what_is_more_than_a_local_check_is_a_persons(text: str) -> None:
    assert ask(text) == ""
