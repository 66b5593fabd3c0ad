"""One measured number and the limit it must keep."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A number of the product, measured in this run."""

    name: str
    value: float
    unit: str
    limit: float
    higher_is_better: bool = False
    note: str = ""

    @property
    def ok(self) -> bool:
        return self.value >= self.limit if self.higher_is_better else self.value <= self.limit
