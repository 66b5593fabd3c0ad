"""
The canary: proves on a real Claude Code process that a denied tool call does not happen.

A version of Claude Code that computes a denial and runs the tool all the same has been seen
more than once by others, so nothing works unattended before this has passed.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from perpetualcc.agent.inbox import Gone, Inbox, ToolEnded, ToolWanted, TurnEnded
from perpetualcc.agent.ports import Launch
from perpetualcc.claude.adapter import ClaudeSettings, open_claude
from perpetualcc.domain.decisions import Decision, Verdict
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import RequestId, SessionId, new_claude_session_id, new_run_id
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions
from perpetualcc.domain.tools import Risk

DEADLINE = timedelta(seconds=120)
"""A trial takes three seconds on a quiet machine, and on a loaded one has taken more than sixty."""

CANARY_FILES = ("written", "executed")
"""What the scripted model tries to create."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What the canary saw."""

    asked: tuple[str, ...]
    """Tools whose calls reached the gate."""
    refused: tuple[str, ...]
    """Tools whose refusal Claude Code reported back."""
    happened: tuple[str, ...]
    """Files that exist although their creation was refused."""

    def holds(self, tools: tuple[str, ...], *, at_the_gate: bool) -> bool:
        """Every one of the tools was tried and came to nothing; at the gate: was also asked for."""
        if self.happened or len(self.refused) != len(tools):
            return False
        return not at_the_gate or sorted(self.asked) == sorted(self.refused) == sorted(tools)


async def probe(
    settings: ClaudeSettings, project: Path, place: Path, *, verdict: Verdict
) -> ProbeResult:
    """
    Let Claude Code try what its model says, answer every call alike, and look at what happened.

    With `DENY` the gate is on trial; with `ALLOW` the layers of `settings` behind it are.

    The model behind `settings.environment` must want to create the canary's files in `place`,
    which must not have them yet. Raises TimeoutError after `DEADLINE`, PerpetualError when Claude
    Code does not start, or dies before it is through.
    """
    inbox = Inbox()
    asked: dict[str, str] = {}
    refused = []
    died_of = ""

    async def ignore(_pid: int) -> None: ...

    async with (
        asyncio.timeout(DEADLINE.total_seconds()),
        open_claude(_launch(project), inbox, settings, ignore) as claude,
    ):
        async for arrival in inbox:
            match arrival:
                case ToolWanted(request=request, tool=tool):
                    asked[request] = tool
                    # What a layer keeps for a person comes once more, and no person is here.
                    said = verdict if arrival.again is None else Verdict.DENY
                    await claude.respond_permission(request, _answer(request, said))
                case ToolEnded(request=request, is_error=True):
                    refused.append(asked.get(request, ""))
                case Gone(error=error):
                    died_of = error
                    break
                case TurnEnded():
                    break
                case _:
                    pass
    # The sandbox leaves stubs of its own such as `.claude`; what counts are the canary's files.
    happened = tuple(sorted(name for name in CANARY_FILES if (place / name).exists()))
    if died_of and not happened:  # in mid-trial: nothing is known of its refusals
        raise PerpetualError(
            f"'{settings.binary}' does not work: {died_of}",
            hint="Try it yourself, or name another one: pcc config set claude.binary …",
        )
    return ProbeResult(asked=tuple(asked.values()), refused=tuple(refused), happened=happened)


def environment_without(unset: tuple[str, ...], wanted: Mapping[str, str]) -> dict[str, str]:
    """For the SDK, which adds to our environment and cannot take from it: emptied is gone."""
    return dict.fromkeys(unset, "") | dict(wanted)


def _launch(project: Path) -> Launch:
    session = Session(
        id=SessionId("canary"),
        name="canary",
        project=project,
        status=SessionStatus.PROCESSING,
        options=SessionOptions(),
        created_at=0.0,
        updated_at=0.0,
    )
    return Launch(
        session=session,
        run=new_run_id(),
        claude_session=new_claude_session_id(),
        resume=False,
        prompt="Create the canary files.",
    )


def _answer(request: RequestId, verdict: Verdict) -> Decision:
    return Decision(
        request=request,
        run=new_run_id(),
        verdict=verdict,
        risk=Risk.HIGH,
        confidence=1.0,
        reason="This is a test of the gate: nothing may happen.",
    )
