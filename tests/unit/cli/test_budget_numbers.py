"""What people type for an amount."""

import pytest

from perpetualcc.cli.budget import _number
from perpetualcc.domain.errors import PerpetualError


@pytest.mark.parametrize(
    ("typed", "number"),
    [("0", 0), ("500000", 5e5), ("500k", 5e5), ("2M", 2e6), ("1.5m", 1.5e6), ("2,000,000", 2e6),
     ("1_000", 1000), ("-4", -4), ("0.25", 0.25), ("1e6", 1e6)],
)  # fmt: skip
def test_an_amount_is_read_as_people_write_it(typed, number):
    assert _number(typed) == number


@pytest.mark.parametrize(
    "typed", ["", "lots", "nan", "inf", "2G", "1.2.3", "k", "1,5", "2,50", "1,0000", "1,000,5"]
)
def test_what_is_no_amount_is_refused(typed):
    with pytest.raises(PerpetualError, match="is no number"):
        _number(typed)
