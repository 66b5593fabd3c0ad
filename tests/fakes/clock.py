"""A wall clock that goes where the test puts it, backwards too."""


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def move(self, seconds: float) -> None:
        self._now += seconds
