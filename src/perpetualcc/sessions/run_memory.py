"""Which run holds too much of the machine's memory. Pure: what was measured comes from outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perpetualcc.domain.ids import RunId
from perpetualcc.domain.texts import bytes_in_words
from perpetualcc.sessions.settings import LoadSettings
from perpetualcc.sessions.system_load import Memory

_WORTH_IT = 2
"""Times what must stay free: to end a smaller run would save nobody."""


@dataclass(frozen=True, slots=True)
class Resident:
    """One process of a run, with what it holds in memory, in bytes."""

    pid: int
    held: int
    program: str
    """For people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgrown:
    """A run that is to be ended, and why."""

    run: RunId
    held: int
    largest: Resident
    text: str


def total(processes: Sequence[Resident]) -> int:
    return sum(one.held for one in processes)


def outgrown(
    runs: Mapping[RunId, Sequence[Resident]], memory: Memory, settings: LoadSettings
) -> list[Outgrown]:
    """Every run above its limit; where none is and hardly anything is left, the largest."""
    limit = settings.run_memory * memory.total
    above = [run for run, found in runs.items() if limit and total(found) > limit]
    if above:
        why = f"load.run_memory is {_share(settings.run_memory, memory)}"
        return [_found(run, runs[run], why) for run in above]
    least = settings.least_memory * memory.total
    largest = max(runs, key=lambda run: total(runs[run]), default=None)
    if largest is None or memory.available >= least or total(runs[largest]) < _WORTH_IT * least:
        return []
    left, all_of_it = bytes_in_words(memory.available), bytes_in_words(memory.total)
    return [_found(largest, runs[largest], f"only {left} of {all_of_it} were left")]


def _share(share: float, memory: Memory) -> str:
    return f"{share:.0%} of {bytes_in_words(memory.total)}"


def _found(run: RunId, processes: Sequence[Resident], why: str) -> Outgrown:
    largest, held = max(processes, key=lambda one: one.held), total(processes)
    most = "" if len(processes) == 1 else f" ({bytes_in_words(largest.held)})"
    text = f"The run held {bytes_in_words(held)} of memory, the most in {largest.program}{most}"
    return Outgrown(run=run, held=held, largest=largest, text=f"{text}; {why}")
