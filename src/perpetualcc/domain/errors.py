"""The one error a person can act on. Anything else that reaches the top is a bug."""

from pathlib import Path


class PerpetualError(Exception):
    """
    Something a person can act on.

    The message says what happened (present tense, no full stop); the hint says what to type.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class MissingError(PerpetualError):
    """
    Something that is not there. Where it was before it may come back: a file system that is not
    mounted, a program that is being replaced, room on a disk.
    """


class NoRoomError(MissingError):
    """A disk that is full, or can only be read just now: no mistake in a name looks like that."""


class ProjectGoneError(MissingError):
    """There is no place to work in."""

    def __init__(self, project: Path) -> None:
        super().__init__(
            f"Project directory '{project}' is gone",
            hint="Put it back where it was and resume the session, or stop it",
        )


class PassingError(PerpetualError):
    """
    Something that may pass by itself: a disk that is full, a file that another program locks.

    Whoever works unattended tries again later; a person who waits is told at once.
    """


def first_cause(error: BaseException) -> BaseException:
    """The first real error inside groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
