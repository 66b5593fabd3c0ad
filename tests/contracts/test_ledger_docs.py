"""The page about the ledger says what the code does."""

import re
from pathlib import Path

from perpetualcc.domain.tasks import TaskState
from perpetualcc.work.ledger import TRANSITIONS

PAGE = Path(__file__).parents[2] / "docs" / "ledger.md"


def test_the_table_of_states_is_the_table_of_transitions() -> None:
    rows = PAGE.read_text().split("| from | to |")[1].split("\n\n")[0].splitlines()[2:]
    told: dict[str, set[str]] = {}
    for row in rows:
        before, after = row.strip("| ").split(" | ")
        words = re.sub(r"\(a person [^)]*\)|—", "", after).split(",")
        for state in before.split(", "):
            told[state] = {word.strip() for word in words if word.strip()}

    assert told == {before: set(after) for before, after in TRANSITIONS.items()}
    assert set(told) == set(TaskState)
