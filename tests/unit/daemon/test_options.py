"""Options of a new session: what is wrong is refused before there is one."""

import pytest

from perpetualcc.daemon.options import authority_from, checked_options
from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.protocol import ProtocolError


def test_what_is_left_out_is_not_decided_here():
    assert checked_options({"brain": "none", "model": None, "confidence": 1}) == {
        "brain": "none",
        "confidence": 1.0,
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"colour": "red"}, "Unknown parameter 'colour'"),
        ({"confidence": "high"}, "'confidence' must be float"),
        ({"confidence": 1.5}, "from 0 to 1"),
        ({"confidence": float("nan")}, "out of all bounds"),
        ({"max_turns": "x"}, "'max_turns' must be int"),
        ({"max_turns": 0}, "at least one turn"),
        ({"max_turns": 10**30}, "out of all bounds"),
        ({"sandbox": "maybe"}, "auto, on or off"),
        ({"auto_approve": 1}, "'auto_approve' must be bool"),
        ({"authority": [1]}, "'authority' must be dict"),
        ({"programs": {"LD_PRELOAD": "x"}}, "Unknown parameter 'LD_PRELOAD'"),
        ({"programs": {"PATH": 1}}, "'PATH' must be str"),
        ({"perpetual": "yes"}, "'perpetual' must be dict"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, said):
    with pytest.raises((ProtocolError, PerpetualError), match=said):
        checked_options(given)


@pytest.mark.parametrize("given", [{"level": 9}, {"level": "3"}, {"root": 1}, {"writable": "/"}])
def test_an_authority_that_does_not_exist_is_refused(given):
    with pytest.raises((ProtocolError, PerpetualError)):
        authority_from(given)


def test_a_person_who_says_nothing_gives_full_authority():
    assert authority_from({}) == Authority()
    assert authority_from({"level": 1}).level is AuthorityLevel.READ_ONLY
    assert not authority_from({"allow_network": False}).allow_network
