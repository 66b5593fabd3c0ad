"""Where no session is named, the only one that can be meant is; of several none is chosen."""

import pytest

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.which_session import the_session
from perpetualcc.domain.session_status import SessionStatus


class Daemon:
    """Knows sessions by their status."""

    def __init__(self, **statuses):
        self.statuses = statuses

    def call(self, method, **_):
        assert method == "session.list"
        return [
            {"id": f"{name}-id", "name": name, "status": status}
            for name, status in self.statuses.items()
        ]


@pytest.mark.parametrize(
    ("statuses", "meant"),
    [
        ({"day": "PROCESSING", "old": "COMPLETED"}, "day-id"),
        ({"day": "ERROR", "old": "STOPPED"}, "day-id"),
        ({"newest": "COMPLETED", "old": "STOPPED"}, "newest-id"),
    ],
)
def test_for_a_look_it_is_the_one_that_is_not_over_or_the_newest(statuses, meant):
    assert the_session(Daemon(**statuses), None, "pcc status") == meant


def test_for_a_change_it_is_the_only_one_that_can_be_changed_so():
    daemon = Daemon(day="PROCESSING", night="PAUSED", old="COMPLETED")

    assert the_session(daemon, None, "pcc resume", SessionStatus.PAUSED) == "night-id"
    with pytest.raises(Mistyped):
        the_session(daemon, None, "pcc resume", SessionStatus.ERROR)


def test_of_several_none_is_chosen_and_what_is_typed_counts():
    daemon = Daemon(
        a="PROCESSING", b="PAUSED", c="IDLE", d="ERROR", e="IDLE", f="IDLE", g="STOPPED"
    )

    with pytest.raises(Mistyped) as refused:
        the_session(daemon, None, "pcc logs")

    assert refused.value.message == "Which session? It can be a, b, c, d, e, …"
    assert refused.value.hint == "pcc logs a-id"
    assert the_session(daemon, "typed", "pcc logs") == "typed"
    with pytest.raises(Mistyped):
        the_session(Daemon(), None, "pcc logs")
