"""What `pcc start`, `pcc list` and `pcc status` say of a session."""

import pytest

from perpetualcc.cli.sessions import _figures, _tokens, session_panel


@pytest.mark.parametrize(
    ("window", "perpetual", "listed", "told"),
    [
        (0, None, "45K", "Token Usage: 45,231 of the context window"),
        (200_000, None, "45K/200K", "Token Usage: 45,231 / 200,000 (22%) of the context window"),
        (0, {"hard_tokens": 120_000}, "45K/120K ∞", "Token Usage: 45,231 of the context window"),
    ],
)
def test_tokens_are_of_the_context_whose_size_is_told_once_it_is_known(
    window, perpetual, listed, told
):
    session = {
        "tokens": 45_231, "context_window": window, "perpetual": perpetual, "counts": {},
        "answered": {}, "runs": 2, "spent": {"tokens": 81_000, "usd": 1.5},
    }  # fmt: skip

    assert _tokens(session) == listed
    assert _figures(session)[:2] == [
        told,
        "In all runs: 81,000 tokens that were not cached, $1.50",
    ]


@pytest.mark.parametrize(
    ("status", "delay", "told"),
    [
        ("IDLE", "", "Running"),
        ("IDLE", "waits for a place: 5 of 5 taken", "Idle"),
        ("RATE_LIMITED", "", "Limited"),
    ],
)
def test_a_session_that_begins_is_said_to_run_unless_something_holds_it_up(status, delay, told):
    session = {"name": "n", "project": "/p", "brain": "none", "status": status, "delay": delay}

    assert f"Status: {told} " in session_panel(session)
