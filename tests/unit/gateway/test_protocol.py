"""Frames: whatever comes in, only frames and ProtocolErrors come out."""

import asyncio
import json
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.daemon.guard_api import GuardApi
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway import protocol
from perpetualcc.gateway.methods import Method
from perpetualcc.gateway.protocol import ErrorCode, ProtocolError, PushedEvent, Request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_line_makes_the_reader_fail(line: bytes) -> None:
    with suppress(ProtocolError):
        assert isinstance(protocol.read_request(line), Request)


@given(st.integers() | st.text(), st.text(), st.dictionaries(st.text(), JSON))
def test_a_request_survives_the_wire(
    identity: str | int, method: str, params: dict[str, Any]
) -> None:
    line = protocol.request(identity, method, params)

    # Lone surrogates cannot travel as UTF-8 and become question marks.
    if "\\ud" not in json.dumps([identity, method, params]):
        assert protocol.read_request(line) == Request(id=identity, method=method, params=params)
    assert line.count(b"\n") == 1


@given(st.text(), JSON)
def test_an_event_is_one_line(name: str, data: object) -> None:
    assert protocol.event(PushedEvent(event=name, data=data)).count(b"\n") == 1


@pytest.mark.parametrize("hint", [None, "pcc list"])
def test_a_persons_error_survives_the_wire(hint: str | None) -> None:
    before = PerpetualError("No session 'x'", hint=hint)

    frame = protocol.read_frame(protocol.failure(1, protocol.from_person_error(before)))
    after = protocol.as_exception(frame["error"])

    assert (after.message, after.hint) == (before.message, before.hint)


ALLOWED = """
                str  int  float  bool  none  list  dict
str             yes  no   no     no    no    no    no
int             no   yes  no     no    no    no    no
float           no   yes  yes    no    no    no    no
bool            no   no   no     yes   no    no    no
list            no   no   no     no    no    yes   no
dict            no   no   no     no    no    no    yes
str|None        yes  no   no     no    yes   no    no
int|None        no   yes  no     no    yes   no    no
float|None      no   yes  yes    no    yes   no    no
bool|None       no   no   no     yes   yes   no    no
"""
KINDS: dict[str, Any] = {
    "str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict,
    "str|None": str | None, "int|None": int | None,
    "float|None": float | None, "bool|None": bool | None,
}  # fmt: skip
VALUES = {"str": "x", "int": 1, "float": 0.5, "bool": True, "none": None, "list": [], "dict": {}}


def rows() -> list[tuple[str, str, bool]]:
    header, *body = [line.split() for line in ALLOWED.strip().splitlines()]
    return [
        (kind, value, answer == "yes")
        for kind, *answers in body
        for value, answer in zip(header, answers, strict=True)
    ]


@pytest.mark.parametrize(("kind", "value", "is_allowed"), rows())
def test_parameters_are_of_the_declared_type(kind: str, value: str, is_allowed: bool) -> None:
    async def call(params: object, connection: object) -> None: ...

    method = Method(call=call, params={"x": KINDS[kind]})

    if is_allowed:
        assert method.check({"x": VALUES[value]}) == {"x": VALUES[value]}
    else:
        with pytest.raises(ProtocolError) as caught:
            method.check({"x": VALUES[value]})
        assert caught.value.code is ErrorCode.INVALID_PARAMS


@pytest.mark.parametrize("text", ["1e999", "-1e999", "Infinity", "NaN"])
def test_a_number_that_no_json_says_is_refused(text: str) -> None:
    async def call(params: object, connection: object) -> None: ...

    method = Method(call=call, params={"x": float | None})
    line = f'{{"type":"req","id":1,"method":"m","params":{{"x":{text}}}}}'

    with pytest.raises(ProtocolError, match="out of all bounds") as caught:
        method.check(protocol.read_request(line.encode()).params)

    assert caught.value.code is ErrorCode.INVALID_PARAMS


@pytest.mark.parametrize(("effect", "subject"), [("evil", "kind"), ("allow", "evil")])
def test_a_rule_of_no_known_kind_is_a_wrong_parameter_and_no_bug(effect: str, subject: str) -> None:
    api = GuardApi(guard=cast("Any", None), trust=cast("Any", None), rules=cast("Any", None))
    asked = {"effect": effect, "subject": subject, "pattern": "git commit"}
    rest = {"includes_high": None, "project": None, "note": None}

    with pytest.raises(ProtocolError, match="'evil' is not one of") as caught:
        asyncio.run(api.add_rule({**asked, **rest}, cast("Any", None)))

    assert caught.value.code is ErrorCode.INVALID_PARAMS
