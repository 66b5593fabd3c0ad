"""One number of a benchmark, and whether it is good enough."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A measured value against its limit."""

    name: str
    value: float
    unit: str
    limit: float
    higher_is_better: bool = False
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the value is on the right side of the limit."""
        return self.value >= self.limit if self.higher_is_better else self.value <= self.limit
