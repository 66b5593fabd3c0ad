r"""
Bytes to text: encodings, line ends, and files that change while they are read.

Line numbers are those of an editor: `\\n`, `\\r\\n` and a lone `\\r` each end a line.
"""

import codecs
import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from perpetualcc.domain.foreign_files import open_regular
from perpetualcc.knowledge.scan.filters import MAX_BYTES
from perpetualcc.knowledge.values import FileStamp

_COOKIE = re.compile(rb"coding[:=][ \t]*([-\w.]+)")
_WINDOWS = "cp1252"
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """The bytes of a file at one moment, and the stamp that belongs to them."""

    stamp: FileStamp
    text: str | None
    """None when the bytes are no text."""


def read_file(path: Path) -> ReadFile:
    """
    Read a regular file of at most `MAX_BYTES`.

    A file that changes meanwhile keeps the stamp from before, so that the next scan reads it again.

    Raises:
        OSError: it is gone, unreadable, or no regular file.
    """
    with open_regular(path, follow=False) as file:
        before = os.fstat(file.fileno())
        data = file.read(MAX_BYTES + 1)
    digest = hashlib.sha256(data).hexdigest()
    stamp = FileStamp(mtime_ns=before.st_mtime_ns, size=before.st_size, digest=digest)
    return ReadFile(stamp=stamp, text=decode(data) if len(data) <= MAX_BYTES else None)


def decode(data: bytes) -> str | None:
    r"""Text with `\\n` line ends, or None for what is binary."""
    text = _decode(data)
    if text is None or "\0" in text[:8192]:
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes) -> str | None:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if b"\0" in data[:8192]:
        return None
    for encoding, errors in (("utf-8", "strict"), (_declared_encoding(data), "replace")):
        # What a file declares may be no encoding of text (`hex`), or replace nothing (`idna`).
        with suppress(LookupError, UnicodeError):
            return data.decode(encoding, errors)
    return data.decode(_WINDOWS, "replace")


def _declared_encoding(data: bytes) -> str:
    """PEP 263's cookie in the first two lines; without one, what Windows writes."""
    match = _COOKIE.search(b"\n".join(data.split(b"\n", 2)[:2]))
    name = match[1].decode("ascii") if match else _WINDOWS
    return _WINDOWS if name.lower().replace("_", "-") in {"utf-8", "utf8"} else name
