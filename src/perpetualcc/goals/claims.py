"""
What proves a task done: its checks, commands that a person named, run when Claude says it is done.

    claimed    Claude ended its turn well; this is on file before a check begins
    proved     every check succeeded: the task is done
    refuted    one did not: Claude is told, and works on; in the end a person is asked

Without checks its end is believed, but for a question in its last words, once (`last_words`).

What is claimed outlives a crash: its checks are run again, and Claude is not asked again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.texts import cut, inside

_TOLD = 3_000
"""Characters of each check's output that Claude reads, the last ones: that is where it says what
failed, and the rest is a command away."""
_OF_MAKE = re.compile(r"g?make(\[\d+\])?: (\*\*\* \[.*\] Error \d+|Leaving directory )")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """`[checks]`: what proves a task done, see `pcc start --check`."""

    attempts: int = 3
    """So often a task's checks may fail before a person is asked; Claude mends in between."""
    minutes: float = 30.0
    """A check that takes longer is ended, and has failed."""

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise PerpetualError("'checks.attempts' is 1 or more", hint="1: Claude mends nothing")
        if self.minutes <= 0:
            raise PerpetualError("'checks.minutes' is more than 0", hint="Set it to 30, say")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a check came to."""

    command: str
    trouble: str = ""
    """Why it failed; empty: it succeeded."""
    seconds: float = 0.0
    output: str = ""
    """The end of what it printed."""

    @property
    def last_line(self) -> str:
        """Of what the command itself has to say, where `make` only adds that it failed."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        own = [line for line in lines if not _OF_MAKE.match(line)]
        return (own or lines or [""])[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """That a task is done."""

    task: TaskId
    result: str
    """What Claude said at the end of its turn."""
    failed: int = 0
    """How often its checks have failed since a person last looked at it."""
    report: str = ""
    """
    What they came to the last time, for Claude; empty while nobody knows. Of a task without checks:
    that it was told of the question it had ended with.
    """

    @property
    def is_open(self) -> bool:
        """It is to be proved; otherwise it is refuted, and Claude's to mend."""
        return not self.report


class Claims(Protocol):
    """Where claims are kept: one a task at most."""

    async def get(self, task: TaskId) -> Claim | None: ...

    async def put(self, claim: Claim) -> None:
        """Durable before anything acts on it."""
        ...

    async def drop(self, task: TaskId) -> None: ...


def report(ran: Sequence[Ran]) -> str:
    """For Claude. What a check printed is data: it may quote whatever the project contains."""
    parts = ["You ended your turn, and this task's checks were run in the project's directory:"]
    for one in ran:
        if not one.trouble:
            parts.append(f"- succeeded: {one.command}")
            continue
        parts.append(f"- failed, {one.trouble}: {one.command}")
        if one.output.strip():
            parts.append(_as_data(one.output))
    parts.append(
        "Mend the cause, not the checks. They are run again when you end your turn. If they cannot "
        "succeed here, say why."
    )
    return "\n".join(parts)


def _as_data(output: str) -> str:
    kept = inside("check-output", output.strip()[-_TOLD:])
    more = "[…]\n" if len(output.strip()) > _TOLD else ""
    return f"<check-output>\n{more}{kept}\n</check-output>"


def in_a_line(failed: Sequence[Ran]) -> str:
    """What a person reads first."""
    first = failed[0]
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    said = f": {cut(first.last_line, 120)}" if first.last_line else ""
    return f"Check failed, {first.trouble}: {cut(first.command, 80)}{more}{said}"
