"""Who types a command: a person, or an agent by way of a tool."""

import os

from perpetualcc.domain.errors import PerpetualError


def is_agent() -> bool:
    """Whether Claude Code runs us, which sets this for its tools, or a process of a run does."""
    from perpetualcc.claude import processes

    return bool(os.environ.get("CLAUDECODE")) or processes.is_of_run(None, os.getpid())


def only_a_person(does: str) -> None:
    """Raises PerpetualError when it is no person."""
    if is_agent():
        raise PerpetualError(f"Only a person {does}", hint="Type it in a terminal of your own")
