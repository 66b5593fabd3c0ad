"""One number of the product, with the limit it must keep."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was measured, and what is promised."""

    name: str
    value: float
    unit: str
    limit: float
    higher_is_better: bool = False
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the promise is kept."""
        if self.higher_is_better:
            return self.value >= self.limit
        return self.value <= self.limit
