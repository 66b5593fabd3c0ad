"""`pcc memory`: what happened, what works, what is true here."""

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import fit, one_line, print_json
from perpetualcc.cli.options import Group, JsonOption, directory
from perpetualcc.cli.patience import said_if_long
from perpetualcc.cli.typist import only_a_person
from perpetualcc.domain.episodes import Provenance
from perpetualcc.domain.errors import MissingError
from perpetualcc.domain.folders import canonical, main_tree
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.times import dated, day
from perpetualcc.memory import EpisodicMemory, FactCategory, SemanticMemory, SimilarEpisode

if TYPE_CHECKING:
    from perpetualcc.store.database import Database

T = TypeVar("T")

app = typer.Typer(cls=Group, help="Search what happened and what works.")

_KINDS = {"QuestionAnswered": "question", "ToolDecided": "call", "TaskSettled": "task"}
"""The events that our own sessions are remembered by; programs may add others."""

ProjectOption = Annotated[Path | None, typer.Option(help="Only this project")]


@app.callback()
def _group() -> None:
    """Search what happened and what works."""


@app.command()
def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="A situation, in words")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50, help="At most so many")] = 3,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """
    Find past episodes that resemble a situation.

    Example: pcc memory search "the tests fail after an upgrade"
    """
    if not query.strip():
        raise Mistyped("There is nothing to look for", hint='pcc memory search "the tests fail"')
    where = str(main_tree(canonical(project))) if project else None

    async def look(database: Any) -> list[SimilarEpisode]:
        from perpetualcc.cli.meanings import configured_meanings
        from perpetualcc.store.episodes import SqliteEpisodes

        memory = EpisodicMemory(SqliteEpisodes(database), configured_meanings())
        return await memory.find_similar(query, limit, project=where)

    with said_if_long("Comparing it with what happened"):
        found = _with_database(ctx, look)
    if as_json:
        print_json([dataclasses.asdict(one) for one in found])
        return
    for one in found:
        when = dated(one.episode.timestamp)
        kind = _KINDS.get(one.episode.event_type, one.episode.event_type)
        print(f"{one.similarity:.2f}  {when}  {kind}  {fit(one.episode.context, 80)}")
        print(f"      → {fit(one.episode.action, 80)}  {one_line(one.episode.outcome)}".rstrip())
    if not found:
        print("Nothing like it happened before")


@app.command()
def facts(
    ctx: typer.Context,
    project: Annotated[Path, typer.Argument(help="The project's directory")] = Path(),
    category: Annotated[FactCategory | None, typer.Option(help="Only of this category")] = None,
    as_json: JsonOption = False,
) -> None:
    """
    List what is known about a project, most trusted first.

    The rules you accepted are preferences. Other facts are what you added, or a program did.

    Example: pcc memory facts ./api
    """
    place = directory(project)

    async def look(database: Any) -> Any:
        from perpetualcc.cli.learning_group import learning_places
        from perpetualcc.daemon.accepted_rules import AcceptedRules
        from perpetualcc.learning.library import Library
        from perpetualcc.store.facts import SqliteFacts

        memory = SemanticMemory(SqliteFacts(database), AcceptedRules(Library(learning_places())))
        return await memory.get_facts(str(main_tree(place)), category)

    found = _with_database(ctx, look)
    if as_json:
        print_json([dataclasses.asdict(one) for one in found])
        return
    for one in found:
        number = f" #{one.id}" if one.id else ""
        told = one_line(f"{one.fact} ({one.source}){number}")
        print(f"{one.category:<12} {one.provenance:<10} {told}")
    if not found:
        print('No facts are known about this project. Add one with: pcc memory add "…"')


@app.command()
def add(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(help="What is true of the project, in your words")],
    category: Annotated[
        FactCategory, typer.Option(help="convention, architecture or decision")
    ] = FactCategory.CONVENTION,
    project: Annotated[Path, typer.Option(help="The project's directory")] = Path(),
) -> None:
    """
    Add a fact: a brain that answers questions of the project is told, and Claude can ask.

    What you prefer is a rule, which every session is told: pcc learn remember.

    Example: pcc memory add "Sessions live in Redis" --category decision
    """
    from perpetualcc.store.facts import SqliteFacts

    only_a_person("says what is true here")
    told = " ".join(fact.split())
    if category is FactCategory.PREFERENCE:
        raise Mistyped("What you prefer is a rule", hint='pcc learn remember "Use tabs"')
    if not any(map(str.isalnum, told)):
        raise Mistyped("A fact needs words", hint='pcc memory add "Sessions live in Redis"')
    where, source = str(main_tree(directory(project))), f"you, {day(time.time())}"

    async def keep(database: Any) -> int:
        memory = SemanticMemory(SqliteFacts(database))
        return await memory.add_fact(where, category, told, source, Provenance.USER)

    print(f"Noted: {one_line(told)} #{_with_database(ctx, keep)}")


@app.command()
def forget(
    ctx: typer.Context,
    number: Annotated[int, typer.Argument(min=1, help="As pcc memory facts shows it")],
) -> None:
    """
    Remove a fact that is no longer true.

    Example: pcc memory forget 3
    """
    from perpetualcc.store.facts import SqliteFacts

    only_a_person("forgets what is true here")

    async def remove(database: Any) -> str:
        return await SemanticMemory(SqliteFacts(database)).forget_fact(number)

    if not (gone := _with_database(ctx, remove)):
        raise MissingError(
            f"No fact has the number {number}", hint="See them with: pcc memory facts"
        )
    print(f"Forgotten: {one_line(gone)}")


@app.command()
def serve(ctx: typer.Context) -> None:
    """
    Offer memory to Claude Code as tools (MCP over standard input and output). Ctrl-C ends it.

    Example: claude mcp add pcc-memory -- pcc memory serve
    """
    import signal
    import sys

    from perpetualcc.cli.learning_group import learning_places
    from perpetualcc.cli.memory_server import build  # the MCP package is large

    if sys.stdin.isatty():
        print("Waiting for an MCP client on standard input; Ctrl-C ends it", file=sys.stderr)
    # It waits for a line in a thread that nothing can interrupt, and holds nothing to be lost.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    build(ctx.obj.locations, learning_places()).run("stdio")


def _with_database(ctx: typer.Context, look: Callable[[Any], Awaitable[T]]) -> T:
    async def work() -> T:
        async with opened(ctx.obj.locations) as database:
            return await look(database)

    return asyncio.run(work())


@asynccontextmanager
async def opened(places: Locations) -> "AsyncIterator[Database]":
    """The user's database, to read from beside a running engine."""
    from perpetualcc.store.database import Database

    async with await Database.open(places.prepare().database, exclusive=False) as database:
        yield database
