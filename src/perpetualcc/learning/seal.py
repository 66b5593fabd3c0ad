"""
Proof that we wrote a preference, from what a person of this account typed and decided.

A repository can bring its own `.data/memory.json`; without the user's key it cannot make a rule
of it, nor add to what the user said (FIELD S17). The key is in the user's directory, where agents
may neither read it nor write.
"""

import contextlib
import hashlib
import hmac
import os
import shlex
from dataclasses import replace
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.private_files import flush_to_disk, opened
from perpetualcc.learning.places import Places
from perpetualcc.learning.preferences import Preference, Status

_KEY_BYTES = 32


def sealed(preference: Preference, project: str, places: Places) -> Preference:
    """The preference as one of ours."""
    return replace(preference, seal=_seal(preference, project, _key(places)))


def is_ours(preference: Preference, project: str, places: Places) -> bool:
    """Whether it stands as we wrote it."""
    return hmac.compare_digest(
        preference.seal.encode(errors="replace"),
        _seal(preference, project, _key(places)).encode(),
    )


def is_accepted(preference: Preference, project: str, places: Places) -> bool:
    """Whether it is accepted, and by whom it must have been."""
    return preference.status is Status.ACCEPTED and is_ours(preference, project, places)


def _seal(preference: Preference, project: str, key: bytes) -> str:
    where = "" if preference.scope == "global" else project
    parts = [where, preference.scope, preference.rule]
    if preference.status is not Status.ACCEPTED:  # how often it was said is what `auto` asks
        parts += [preference.status, str(preference.confidence), str(preference.seen)]
    text = "\x00".join(parts)
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]


def _key(places: Places) -> bytes:
    """The user's key; the first who asks makes it, whole, and whoever comes second takes that."""
    with contextlib.suppress(FileNotFoundError):
        if len(key := _read(places.key)) == _KEY_BYTES:
            return key
        places.key.unlink()  # cut short when the power went: anybody could sign with what is left
    places.make()
    fresh = places.key.with_name(f".key.{os.getpid()}")
    descriptor = opened(fresh, os.O_WRONLY | os.O_TRUNC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.urandom(_KEY_BYTES))
        file.flush()
        flush_to_disk(file.fileno())
    with contextlib.suppress(FileExistsError):
        places.key.hardlink_to(fresh)
    fresh.unlink()
    return _read(places.key)


def _read(key: Path) -> bytes:
    try:
        return read_regular(key, _KEY_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PerpetualError(
            f"The key of what was learned cannot be read: {error.strerror or error}",
            hint=f"Put it back, or move away what is in its place: ls -ld {shlex.quote(str(key))}",
        ) from error
