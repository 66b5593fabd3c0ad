"""Who else works in the project where a session is started."""

import pytest

from perpetualcc.cli.start import _beside


def one(name: str, status: str) -> dict[str, str]:
    return {"id": f"id-{name}", "name": name, "status": status}


OWN = one("own", "IDLE")


@pytest.mark.parametrize(
    "others", [(), [one("a", "COMPLETED"), one("b", "STOPPED"), one("c", "ERROR")]]
)
def test_nobody(others):
    assert _beside([OWN, *others], OWN["id"]) == ""


def test_those_that_have_not_ended_are_counted_and_one_is_named():
    found = _beside([OWN, one("a", "RATE_LIMITED"), one("b", "ERROR"), one("c", "IDLE")], OWN["id"])

    assert found.startswith("Session 'a' (id-a), and 1 more is at work in the same project")
    assert found.endswith('pcc add id-a "…"')
