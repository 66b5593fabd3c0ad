"""What the engine offers to clients: named methods with typed parameters."""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import UnionType
from typing import Any, Protocol, TypeVar, get_args

from perpetualcc.gateway.protocol import ErrorCode, ProtocolError

Chosen = TypeVar("Chosen", bound=StrEnum)
Params = dict[str, Any]
Feed = AsyncGenerator[tuple[str, Any], None]
"""Names and data of events, in order. It is closed when its client leaves."""


_TOO_LARGE = 2**63
"""What no column of the database holds."""


class Connection(Protocol):
    """The client that asks, as a method sees it."""

    @property
    def client(self) -> str:
        """What the client called itself when it connected."""
        ...

    def subscribe(self, feed: Feed) -> str:
        """
        Push a feed to this client from now on; returns the subscription's id.

        The next item is taken only when the client has room for it, so a slow client costs one
        item of memory. The feed ends with `events.unfollow`, with the connection, or by itself.

        Raises:
            PerpetualError: this client has as many as one may have.
        """
        ...

    def stand(self, client: str, allows: Callable[[str, Params], bool]) -> None:
        """From now on this is that client, which may ask for what `allows` says and no more."""
        ...

    def end(self) -> None:
        """Hang up."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """
    One thing that a client can ask for.

    The call gets every declared parameter: an absent optional one is None. It may raise
    PerpetualError, which reaches the person, and must return what JSON can say.
    """

    call: Callable[[Params, Connection], Awaitable[Any]]
    params: Mapping[str, type | UnionType] = field(default_factory=dict)
    """Name and type; `str | None` makes a parameter optional."""
    is_decision: bool = False
    """It says what agents may do: refused to a process that an agent started."""
    only_people: frozenset[str] = frozenset()
    """Parameters that are refused to such a process where they are given, and not nothing."""

    def decides(self, params: Params) -> bool:
        return self.is_decision or any(params[name] for name in self.only_people)

    def check(self, given: Params) -> Params:
        """
        The parameters, all of them and of the right type.

        Raises:
            ProtocolError: INVALID_PARAMS, naming the parameter.
        """
        return checked_params(self.params, given)


def one_of(kind: type[Chosen], word: str) -> Chosen:
    """Raises ProtocolError for a word that the enumeration does not have."""
    try:
        return kind(word)
    except ValueError:
        message = f"{word!r:.80} is not one of {', '.join(kind)}"
        raise ProtocolError(ErrorCode.INVALID_PARAMS, message) from None


def checked_params(known: Mapping[str, Any], given: Params) -> Params:
    """`Method.check`, for what a parameter holds, too."""
    if unknown := sorted(set(given) - set(known)):
        message = f"Unknown parameter {unknown[0]!r:.80}; known: {', '.join(known) or 'none'}"
        raise ProtocolError(ErrorCode.INVALID_PARAMS, message)
    return {name: _checked(name, given.get(name), kind) for name, kind in known.items()}


def _checked(name: str, value: Any, kind: type | UnionType) -> Any:
    kinds = get_args(kind) or (kind,)
    if isinstance(value, bool):  # an int for Python, not for JSON
        fits = bool in kinds
    elif isinstance(value, int):
        fits = int in kinds or float in kinds
        if abs(value) >= _TOO_LARGE:
            raise _out_of_bounds(name)
        value = value if int in kinds else float(value)
    else:
        fits = isinstance(value, kinds)
        if fits and isinstance(value, float) and not math.isfinite(value):
            raise _out_of_bounds(name)  # no JSON says it, so no answer may
    if fits:
        return value
    wanted = kind.__name__ if isinstance(kind, type) else str(kind)
    message = f"Parameter {name!r} must be {wanted}, not {value!r:.80}"
    raise ProtocolError(ErrorCode.INVALID_PARAMS, message)


def _out_of_bounds(name: str) -> ProtocolError:
    return ProtocolError(ErrorCode.INVALID_PARAMS, f"Parameter {name!r} is out of all bounds")
