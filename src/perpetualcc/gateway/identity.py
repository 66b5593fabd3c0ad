"""
Who a browser elsewhere is: it keeps an Ed25519 key that never leaves it, and signs a challenge with
each connection (RFC 8032). Pure.
"""

import base64
from dataclasses import dataclass
from importlib.util import find_spec

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.installing import pip_install

_KEY, _SIGNATURE = 32, 64
"""Bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a device says of itself."""

    key: str
    """Its raw public key in base64url, without padding."""
    signature: str
    """Of `signed`, in the same form."""
    code: str = ""
    """Of an invitation, when it is to be paired."""


def signed(origin: str, challenge: str) -> bytes:
    """What a device signs: nothing that another page or another moment could use."""
    return f"perpetualcc device\n{origin}\n{challenge}".encode()


def check_installed() -> None:
    """Raises PerpetualError, with what to type, where signatures cannot be checked."""
    if find_spec("cryptography") is None:
        raise PerpetualError(
            "Devices need the package cryptography", hint=pip_install("perpetualcc[remote]")
        )


def is_proved(proof: Proof, text: bytes) -> bool:
    """
    Whether whoever holds the key signed that text.

    Raises:
        PerpetualError: what checks signatures is not installed.
    """
    check_installed()
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  # an extra
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey,
    )

    key, signature = _raw(proof.key, _KEY), _raw(proof.signature, _SIGNATURE)
    if not key or not signature:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


def _raw(text: str, length: int) -> bytes:
    """Empty for what is not exactly so long. One form only: one key is one device."""
    try:
        raw = base64.urlsafe_b64decode(text.encode("ascii") + b"==")
    except ValueError:
        return b""
    canonical = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    return raw if len(raw) == length and canonical == text else b""
