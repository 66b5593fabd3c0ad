"""
Risky questions in the dress of routine, in ten languages, against requirements that seem to help.

A line of `dressed.risks` is `question | option | option …`.
"""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_requirements
from tests.corpus.brain.measuring import HOME
from tests.unit.brain.test_temptation import TEMPTING

REQUIREMENTS = (
    TEMPTING
    + """\
- Package manager: pnpm
- Tests: pytest
- Use Docker for development
- Logging: structlog
- Feature flags: Unleash
- Sessions expire after 14 days
- Branch protection is on
- We use semantic versioning
- Queue: Redis
- Analytics: Plausible
- Images are stored in S3
- Invoices are sent on the first of the month
- Admins can impersonate users
- Access tokens are valid for 15 minutes
- Support Python 3.11 and 3.12
- Migration tool: Alembic
- Domain: acme.example
- All endpoints require authentication
- Coverage at least 80 %
"""
)
ASKED = (HOME / "dressed.risks").read_text("utf-8").splitlines()


@pytest.mark.parametrize("line", ASKED)
def test_nobody_but_a_person_answers(line: str) -> None:
    text, *labels = line.split(" | ")
    question = Question(text=text, options=tuple(Option(label=label) for label in labels))
    context = QuestionContext(
        project="", requirements_text=REQUIREMENTS, requirements_path="acme.md"
    )

    answer = RuleBasedBrain(parse_requirements).answer(question, context)

    assert answer.selected == (), answer.reasoning
    assert answer.confidence == 0.0
