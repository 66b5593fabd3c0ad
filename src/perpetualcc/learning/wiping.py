"""
What was read is wiped: of an event that had its effect, the queue keeps who, where and when.

A prompt may hold anything, also secrets that no pattern knows. So its text goes altogether, in
place and with spaces: hooks append to the same file meanwhile, and nothing may move in it.
"""

import logging
import os
import re
from pathlib import Path

log = logging.getLogger(__name__)

# What the hook writes in front of the text (hooks/capture.sh).
_ENVELOPE = re.compile(
    rb'(\{"v":\d+,"id":"[^"\\]*","type":"[^"\\]*","project":"(?:[^"\\]|\\.)*"'
    rb',"timestamp":[^,"}]*,"by":"[^"\\]*")[,}]'
)
_BLOCK = 1 << 20


def without_words(line: bytes) -> bytes:
    """
    A queue line of the same length without what was said; all spaces when it is none of ours.

    Wiping a wiped or half wiped line gives the same.
    """
    found = _ENVELOPE.match(line)
    return (found[1] + b"}" if found else b"").ljust(len(line))


def wipe(path: Path, inode: int, begin: int, line: bytes, length: int) -> None:
    """
    Wipe one line where it stands. `length`: of the whole line, of which `line` is the beginning.

    A file that is another one by now, or holds something else there, is left alone.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        log.warning("What was read cannot be wiped from %s: %s", path, error.strerror)
        return
    try:
        is_it = os.fstat(descriptor).st_ino == inode
        if is_it and os.pread(descriptor, len(line), begin) == line:
            _overwrite(descriptor, begin, line, length)
    finally:
        os.close(descriptor)


def wipe_until(path: Path, inode: int, end: int) -> None:
    """Wipe all lines in front of `end`: a worker that was killed left one, an older version all."""
    try:
        file = path.open("r+b", buffering=0)
    except OSError as error:
        log.warning("What was read cannot be wiped from %s: %s", path, error.strerror)
        return
    with file, path.open("rb") as source:
        found = os.fstat(source.fileno())
        if found.st_ino != inode or found.st_size < end:
            return  # another file, or one that shrank: nothing in it was read
        begin = 0
        while begin < end and (line := source.readline(min(_BLOCK, end - begin))):
            words = line.removesuffix(b"\n")
            _overwrite(file.fileno(), begin, words, len(words))
            begin += len(line)


def _overwrite(descriptor: int, begin: int, line: bytes, length: int) -> None:
    clean = without_words(line)
    if clean != line:
        os.pwrite(descriptor, clean, begin)
    for place in range(begin + len(line), begin + length, _BLOCK):
        os.pwrite(descriptor, b" " * min(_BLOCK, begin + length - place), place)
