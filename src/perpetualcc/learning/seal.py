"""
Proof that a person of this account accepted a rule.

A repository can bring its own `.data/memory.json`; without the user's key it cannot make a rule
of it (FIELD S17). The key is in the user's directory, where agents may neither read it nor write.
"""

import contextlib
import hashlib
import hmac
import os
from dataclasses import replace

from perpetualcc.domain.private_files import opened
from perpetualcc.learning.places import Places
from perpetualcc.learning.preferences import Preference, Status


def sealed(preference: Preference, project: str, places: Places) -> Preference:
    """The preference, accepted."""
    accepted = replace(preference, status=Status.ACCEPTED)
    return replace(accepted, seal=_seal(accepted, project, _key(places)))


def is_accepted(preference: Preference, project: str, places: Places) -> bool:
    """Whether it is accepted, and by whom it must have been."""
    if preference.status is not Status.ACCEPTED:
        return False
    return hmac.compare_digest(preference.seal, _seal(preference, project, _key(places)))


def _seal(preference: Preference, project: str, key: bytes) -> str:
    where = "" if preference.scope == "global" else project
    text = f"{where}\x00{preference.scope}\x00{preference.rule}"
    return hmac.new(key, text.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()[:32]


def _key(places: Places) -> bytes:
    """The user's key; the first who asks makes it, whole, and whoever comes second takes that."""
    with contextlib.suppress(FileNotFoundError):
        return places.key.read_bytes()
    places.make()
    fresh = places.key.with_name(f".key.{os.getpid()}")
    descriptor = opened(fresh, os.O_WRONLY | os.O_TRUNC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.urandom(32))
    with contextlib.suppress(FileExistsError):
        places.key.hardlink_to(fresh)
    fresh.unlink()
    return places.key.read_bytes()
