"""`--at`: what begins at a time, and not now."""

from typing import Annotated

import typer

AtOption = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="WHEN",
        help='Begin then, unattended: 23:00, "tomorrow at 9am", "friday 18:30", "in 2 hours"',
    ),
]


def due_of(at: str | None) -> float | None:
    """UTC epoch seconds. Raises PerpetualError for what is no time, or none ahead."""
    if at is None:
        return None
    from perpetualcc.config.clock import wall_clock  # noqa: PLC0415  # not for --help
    from perpetualcc.deferred.when import parse_when  # noqa: PLC0415

    return parse_when(at, wall_clock().now())
