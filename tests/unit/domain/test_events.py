"""Events survive the way into the log and back."""

import dataclasses
import json
import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perpetualcc.domain.events import EVENT_TYPES, Event
from perpetualcc.domain.ids import RunId, SessionId, TaskId

IDS = {"session": SessionId("abc123"), "run": RunId("r-1"), "task": TaskId("t-1")}
_TEXT = st.text(max_size=20)


def events(kind: type[Event]) -> st.SearchStrategy[Event]:
    """Any event of that kind; its ids are given."""
    hints = typing.get_type_hints(kind)
    fields = [one.name for one in dataclasses.fields(kind) if one.name not in IDS]
    return st.builds(kind, **{name: _values(hints[name]) for name in fields})


def _values(kind: typing.Any) -> st.SearchStrategy[typing.Any]:
    plain = getattr(kind, "__supertype__", kind)
    origin, inner = typing.get_origin(plain), typing.get_args(plain)
    if origin is list:
        return st.lists(_values(inner[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(_TEXT, _values(inner[1]), max_size=3)
    if inner:
        return st.one_of(*(_values(one) for one in inner))
    simple = {
        str: _TEXT,
        int: st.integers(-(2**53), 2**53),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
        typing.Any: _TEXT,
    }
    return simple[plain]


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=EVENT_TYPES)
def test_an_event_survives_json(kind: type[Event]) -> None:
    @settings(max_examples=30)
    @given(events(kind))
    def survives(event: Event) -> None:
        event = dataclasses.replace(event, **IDS)

        back = EVENT_TYPES[event.kind].from_data(json.loads(json.dumps(event.data())), **IDS)

        assert back == event

    survives()


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=EVENT_TYPES)
def test_a_field_that_a_newer_version_adds_is_left_out(kind: type[Event]) -> None:
    hints = typing.get_type_hints(kind)
    needed = [one for one in dataclasses.fields(kind) if one.default is dataclasses.MISSING]
    data = {one.name: _any_value(hints[one.name]) for one in needed}

    event = kind.from_data({**data, "from_the_future": 1}, session=IDS["session"])

    assert event.session == "abc123"
    assert "from_the_future" not in event.data()


def _any_value(kind: typing.Any) -> typing.Any:
    return [] if typing.get_origin(kind) is list else ""


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=EVENT_TYPES)
def test_every_event_has_a_level_that_logs_knows(kind: type[Event]) -> None:
    assert kind.level in {"debug", "info", "warn", "error"}
