"""The one error a person can act on. Anything else that reaches the top is a bug."""


class PerpetualError(Exception):
    """
    Something a person can act on.

    The message says what happened (present tense, no full stop); the hint says what to type.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class PassingError(PerpetualError):
    """
    Something that may pass by itself: a disk that is full, a file that another program locks.

    Whoever works unattended tries again later; a person who waits is told at once.
    """
