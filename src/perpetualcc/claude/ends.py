"""Why a Claude Code process went, in words for a person."""

import signal
from collections.abc import Iterable

import claude_agent_sdk as sdk

_LONGEST = 2000
"""Characters of what it wrote last."""
_WHO_KILLS = "by somebody, or by the system for want of memory"


def explained(problem: Exception, stderr: Iterable[str]) -> str:
    """What happened, and below it what the process wrote to stderr."""
    tail = "\n".join(line for line in stderr if line.strip())[-_LONGEST:]
    return f"{_what_happened(problem)}\n{tail}".strip()


def _what_happened(problem: Exception) -> str:
    match problem:
        case sdk.ResultError():
            return str(problem)
        case sdk.ProcessError(exit_code=int(code)) if code < 0:
            who = f" ({_WHO_KILLS})" if code == -signal.SIGKILL else ""
            return f"Claude Code was killed with {_name(-code)}{who}"
        case sdk.ProcessError(exit_code=int(code)):
            return f"Claude Code ended with exit code {code}"
        case _:
            return str(problem)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
