"""What counts as the same quantity, the same word and the same name."""

import pytest

from perpetualcc.brain.rules.terms import read_terms, values


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("90 minutes", "1.5 hours"),
        ("90 Minuten", "1,5 Stunden"),
        ("30 minutes", "half an hour"),
        ("3 months", "90 days"),
        ("12 months", "365 days"),
        ("18 Monate", "1.5 years"),
        ("0.40 m", "40 cm"),
        ("latin-1", "ISO-8859-1"),
        ("retried", "retries"),
    ],
)
def test_they_mean_the_same(one: str, other: str) -> None:
    assert values(read_terms(one)) == values(read_terms(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("4 weeks", "1 month"), ("15 m", "15 cm"), ("1,500", "1.5"), ("12 months", "350 days")],
)
def test_they_do_not(one: str, other: str) -> None:
    assert values(read_terms(one)) != values(read_terms(other))
