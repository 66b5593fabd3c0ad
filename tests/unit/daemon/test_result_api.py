"""What is told of a worktree is told by a person, and in the words that the log knows."""

import asyncio
from types import SimpleNamespace

import pytest

from perpetualcc.daemon.result_api import ResultApi
from perpetualcc.domain.devices import Scope
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import PushDone
from perpetualcc.gateway.dashboard.guards import may
from perpetualcc.gateway.protocol import ProtocolError

ANA = SimpleNamespace(client="ana@box")
PUSHED = {"branch": "worktree-x", "remote": "origin", "address": "box:x.git", "commit": "1a2b"}


def told(kind: str, facts: dict) -> list:
    events = []

    async def get_session(_name):
        return SimpleNamespace(id="s-1")

    async def record(*more):
        events.extend(more)

    snapshots = SimpleNamespace(manager=SimpleNamespace(get_session=get_session))
    api = ResultApi(reports=None, snapshots=snapshots, record=record)
    asyncio.run(api.tell({"session": "x", "kind": kind, "facts": facts}, ANA))
    return events


def test_who_tells_it_is_known_and_not_told():
    assert told("PushDone", PUSHED) == [PushDone(session="s-1", by="ana@box", **PUSHED)]
    with pytest.raises(ProtocolError, match="Unknown parameter 'by'"):
        told("PushDone", {**PUSHED, "by": "somebody else"})


@pytest.mark.parametrize("kind", ["DiscardBegan", "ToolDecided", "TaskSettled", ""])
def test_nothing_else_is_written_into_the_log(kind):
    with pytest.raises(PerpetualError, match="told by nobody"):
        told(kind, PUSHED)


def test_a_fact_of_another_kind_is_refused():
    with pytest.raises(ProtocolError, match="Parameter 'commit' must be str"):
        told("PushDone", {**PUSHED, "commit": 7})


def test_whatever_changes_something_is_refused_to_an_agent_and_to_whoever_may_only_look():
    methods = ResultApi(reports=None, snapshots=None, record=None).methods()

    deciding = {name for name, method in methods.items() if method.is_decision}

    assert deciding == {"result.accept", "result.discard", "result.tell"}
    looking = {name for name in methods if may(Scope.LOOK, name, {"session": "x"})}
    working = {name for name in methods if may(Scope.WORK, name, {"session": "x"})}
    assert looking == {"result.review"}
    assert working == set(methods) - {"result.tell"}
