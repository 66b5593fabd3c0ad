"""What Claude asks and what a file says may be of any length: the rules are quick about it."""

import time

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements.reading import parse_statements

_LINE = "- Database: PostgreSQL\n"


@pytest.mark.parametrize(
    ("label", "line"), [(" " * 20_000, ""), ("\n" * 20_000, ""), ("", "- Database " + "a/" * 3_000)]
)
def test_a_long_text_takes_no_long_time(label: str, line: str) -> None:
    options = (Option(label=f"PostgreSQL{label}x"), Option(label="SQLite"))
    question = Question(text="Which database should we use?", options=options)
    context = QuestionContext(
        project="p", requirements_text=_LINE + line, requirements_path="/R.md"
    )
    began = time.thread_time()

    RuleBasedBrain(parse_statements).answer(question, context)

    assert time.thread_time() - began < 5
