"""Who types a command: a person, or an agent by way of a tool."""

import os

from perpetualcc.cli.options import GlobalOptions
from perpetualcc.domain.errors import PerpetualError

_HINT = "Type it in a terminal of your own"


def is_agent() -> bool:
    """Whether Claude Code runs us, which sets this for its tools, or a process of a run does."""
    from perpetualcc.claude import processes

    return bool(os.environ.get("CLAUDECODE")) or processes.is_of_run(None, os.getpid())


def only_a_person(does: str) -> None:
    """Raises PerpetualError: an agent types it, also one that we do not supervise."""
    if is_agent():
        raise PerpetualError(f"Only a person {does}", hint=_HINT)


def no_run_of_ours(options: GlobalOptions, does: str) -> None:
    """Raises PerpetualError: a process of a run would do what is its person's."""
    from perpetualcc.claude import processes

    if processes.is_of_run(options.locations.data, os.getpid()):
        raise PerpetualError(
            f"Only a person {does}, and this process belongs to an agent's run", hint=_HINT
        )
