"""What runs in a worker: batches of paths in, parsed files out, until nobody asks any more."""

import signal
from contextlib import closing, suppress
from multiprocessing.connection import Connection

from perpetualcc.knowledge.workers import parse_batch


def serve(descriptor: int) -> None:
    """
    Answer at this socket. Its other end closes however the asking process ends, killed included.

    Ctrl+C reaches every process of a terminal; it is for whoever asks to end.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with closing(Connection(descriptor)) as pipe, suppress(EOFError, OSError):
        project, layout = pipe.recv()
        pipe.send(True)
        while True:
            pipe.send(parse_batch(project, pipe.recv(), layout))
