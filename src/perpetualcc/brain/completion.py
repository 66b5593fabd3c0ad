"""What a model-backed brain needs of a service: one reply, of a given shape, or a refusal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

ANOTHER_FORM = (ValueError, TypeError, RecursionError)
"""What a client raises over a reply that is no JSON, or JSON of another form: `null`, a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A reply, not yet believed."""

    text: str
    """JSON of the asked shape, if the model kept to it."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    """What the service says; 0.0 when it does not."""
    is_own: bool = False
    """By a machine of the person's own: its tokens count against no budget."""


class Complete(Protocol):
    """
    One service, one model, no tools and no memory.

    Concurrent calls are allowed, and a call may be cancelled: it then leaves nothing running.
    """

    async def complete(self, system: str, prompt: str, schema: Mapping[str, Any]) -> Completion:
        """
        Ask for JSON of a schema.

        Raises:
            BrainUnavailable: refused, limited, unreachable or too slow; the hint says what to do.
        """
        ...

    async def check(self) -> None:
        """
        Verify that the service is there and has the model; may cost one small call.

        Raises:
            BrainUnavailable: it is not; the hint says what to do.
        """
        ...
