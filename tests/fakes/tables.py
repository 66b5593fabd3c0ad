"""A scene played on real tables that are gone afterwards."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from perpetualcc.store.database import Database

T = TypeVar("T")


def on_tables(folder: Path, scene: Callable[[Database], Awaitable[T]]) -> T:
    """What the scene comes to."""

    async def main() -> T:
        async with await Database.open(folder / "x.db") as database:
            return await scene(database)

    return asyncio.run(main())
