"""The report of `pcc graph PROJECT --report`, as text or JSON."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from perpetualcc.cli.look import print_json
from perpetualcc.domain.texts import counted, first_few
from perpetualcc.knowledge.structure import Cycle, Structure

_SHOWN = 10
"""Entries of each part; `--json` has more."""
_NAMED = 4
"""Files named in a line."""


def print_report(structure: Structure, *, as_json: bool) -> None:
    """Print it; JSON has every cycle, layer and orphan, and a hundred of the most depended on."""
    if as_json:
        print_json(asdict(structure))
        return
    print("\n".join(_lines(structure)))


def _lines(structure: Structure) -> Iterator[str]:
    files, imports = counted(structure.files, "file"), counted(structure.imports, "import")
    yield f"{files} of code, {imports} among them; tests are left out"
    none = "" if structure.dependencies else " none"
    yield f"\nMost depended on (importers, files that reach it):{none}"
    most = structure.dependencies[:_SHOWN]
    yield from (f"  {d.importers:4} {d.reach:4}  {d.path}" for d in most)
    yield from _part("Cycles", map(_cycle, structure.cycles))
    layers = [
        f"{height:3}  {counted(len(files), 'file')}: {first_few(files, _NAMED)}"
        for height, files in enumerate(structure.layers)
    ]
    yield from _part("Layers, from the ground up", layers, shown=len(layers))
    yield from _part("Orphans: they import none and none imports them", structure.orphans)


def _part(title: str, entries: Iterable[str], shown: int = _SHOWN) -> Iterator[str]:
    every = list(entries)
    yield f"\n{title}: {len(every) or 'none'}"
    yield from (f"  {entry}" for entry in every[:shown])
    if len(every) > shown:
        yield f"  … and {len(every) - shown} more"


def _cycle(cycle: Cycle) -> str:
    circle = " → ".join([*cycle.shortest, cycle.shortest[0]])
    further = len(cycle.files) - len(cycle.shortest)
    return circle + (f"  (and {further} more with them)" if further else "")
