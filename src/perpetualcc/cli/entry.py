"""
Where `pcc` begins. What is typed most is told at once: importing the parser of options takes longer
than asking the engine what waits.
"""

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_INTERRUPTED = 130
_PLACES = {"--config": "config", "--data-dir": "data_dir"}
_PAIR = 2


def main() -> None:
    """Run `pcc`."""
    places = _places_of_plain_pending(sys.argv[1:])
    if places is not None:
        from perpetualcc.cli.ending import with_our_errors  # noqa: PLC0415  # as light as can be

        with_our_errors(lambda: _pending(places))
    else:
        from perpetualcc.cli.main import main as run  # noqa: PLC0415  # imports the parser

        run()


def _places_of_plain_pending(typed: list[str]) -> dict[str, Path] | None:
    """What `pcc [--config PATH] [--data-dir PATH] pending` names; None for anything else."""
    places: dict[str, Path] = {}
    while len(typed) > _PAIR and typed[0] in _PLACES and not typed[1].startswith("-"):
        places[_PLACES[typed[0]]] = Path(typed[1])
        typed = typed[_PAIR:]
    return places if typed == ["pending"] else None


def _pending(places: Mapping[str, Path]) -> int:
    """`pcc pending` without options of its own, as the parser would run it."""
    from perpetualcc.cli.options import GlobalOptions  # noqa: PLC0415  # as above
    from perpetualcc.cli.streams import give_up_output  # noqa: PLC0415  # as above
    from perpetualcc.cli.waiting import list_waiting  # noqa: PLC0415  # as above

    try:
        list_waiting(GlobalOptions(config=places.get("config"), data_dir=places.get("data_dir")))
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_output()
        return 1
    except KeyboardInterrupt:
        with suppress(BrokenPipeError):
            print("Aborted.", file=sys.stderr)
        return _INTERRUPTED
    return 0


if __name__ == "__main__":
    main()
