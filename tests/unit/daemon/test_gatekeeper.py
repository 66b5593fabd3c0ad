"""What every run is guarded with."""

import asyncio

import pytest

from perpetualcc.daemon import gatekeeper
from perpetualcc.daemon.gatekeeper import Guard
from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.sessions import Session, SessionOptions, SessionStatus
from perpetualcc.permissions.settings import PermissionSettings, SandboxMode


def session(tmp_path, mode: str, level: int = 3) -> Session:
    authority = Authority(level=AuthorityLevel(level))
    return Session(
        id=SessionId("abc123"), name="s", project=tmp_path, status=SessionStatus.PROCESSING,
        options=SessionOptions(sandbox=mode, authority=authority), created_at=0.0, updated_at=0.0,
    )  # fmt: skip


def guard(configured: str) -> Guard:
    settings = PermissionSettings(sandbox=SandboxMode(configured))
    return Guard(settings, minds=None, trust=None, rules=None, habits=None)


@pytest.mark.parametrize(
    ("configured", "asked", "level", "sandboxed"),
    [
        ("auto", "on", 3, True),
        ("auto", "off", 1, False),
        ("auto", "", 1, True),
        ("auto", "", 3, False),
        ("on", "", 3, True),
        ("on", "off", 3, False),
        ("off", "on", 3, True),
    ],
)
def test_a_session_s_own_sandbox_mode_goes_before_the_configured_one(
    tmp_path, monkeypatch, configured, asked, level, sandboxed
):
    monkeypatch.setattr(gatekeeper, "why_no_sandbox", lambda: "")

    assert guard(configured).is_sandboxed(session(tmp_path, asked, level)) is sandboxed


def test_a_sandbox_that_was_asked_for_and_is_not_there_is_no_small_matter(tmp_path, monkeypatch):
    monkeypatch.setattr(gatekeeper, "why_no_sandbox", lambda: "bwrap is missing")

    with pytest.raises(PerpetualError, match="bwrap is missing"):
        asyncio.run(guard("auto").layers(session(tmp_path, "on")))
