"""A word to the person who waits: whatever takes longer than a second says what it waits for."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_AFTER = 1.0
"""Seconds: below it nobody wonders."""


@contextmanager
def said_if_long(text: str) -> Iterator[None]:
    """Say it on stderr once the block takes longer than a second."""

    def say() -> None:
        print(f"{text} …", file=sys.stderr, flush=True)

    timer = threading.Timer(_AFTER, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
