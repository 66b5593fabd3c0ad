"""What a client may say about a new session; anything else is refused before there is one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perpetualcc.daemon.surroundings import PROGRAMS
from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.methods import checked_params

_KNOWN = {
    **dict.fromkeys(["brain", "model", "claude_model", "sandbox", "requirements"], str | None),
    "auto_approve": bool | None,
    "confidence": float | None,
    "max_turns": int | None,
    **dict.fromkeys(["authority", "perpetual", "programs"], dict | None),
}
_AUTHORITY = {"level": int | None, "writable": list | None, "allow_network": bool | None}


def checked_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """
    The options that were given, each of its type.

    Raises:
        ProtocolError: an unknown one, or one of another type.
        PerpetualError: a number that cannot be meant.
    """
    found = {k: v for k, v in checked_params(_KNOWN, dict(given)).items() if v is not None}
    if not 0 <= found.get("confidence", 0.0) <= 1:
        raise PerpetualError("The confidence is a number from 0 to 1", hint="--confidence 0.7")
    if found.get("max_turns", 1) < 1:
        raise PerpetualError("A session needs at least one turn", hint="--max-turns 1")
    if found.get("sandbox", "") not in {"", "auto", "on", "off"}:
        raise PerpetualError("The sandbox is auto, on or off", hint="--sandbox auto")
    checked_params(dict.fromkeys(PROGRAMS, str | None), found.get("programs", {}))
    return found


def authority_from(given: Mapping[str, Any]) -> Authority:
    """
    An authority as `pcc start` sends it; level 3 by default, since a person starts it.

    Raises: ProtocolError, PerpetualError: no authority at all.
    """
    said = checked_params(_AUTHORITY, dict(given))
    level = AuthorityLevel.FULL if said["level"] is None else said["level"]
    if level not in set(AuthorityLevel):
        raise PerpetualError(f"There is no level {level}", hint="It is 1, 2 or 3")
    return Authority(
        level=AuthorityLevel(level),
        writable=tuple(Path(str(path)) for path in said["writable"] or ()),
        allow_network=said["allow_network"] is not False,
    )
