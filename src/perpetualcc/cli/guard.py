"""`pcc decisions` and `pcc trust`: what was decided, and what a project may bring along."""

import textwrap
import time
from typing import Annotated, Any

import typer

from perpetualcc.cli.completion import one_of
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import (
    fit,
    one_line,
    print_json,
    printable,
    table,
    terminal_width,
    width,
    wrapped,
)
from perpetualcc.cli.options import (
    GlobalOptions,
    JsonOption,
    ProjectArgument,
    SessionOption,
    directory,
)
from perpetualcc.cli.results import ask
from perpetualcc.cli.since import seconds_of
from perpetualcc.domain.decisions import DecidedBy, Verdict
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.texts import from_home
from perpetualcc.domain.times import clock
from perpetualcc.domain.tools import Risk
from perpetualcc.gateway.client import Client

app = typer.Typer(rich_markup_mode=None)

_ANSWERS = 1_000
"""Latest answers that the filters choose from."""
_CALL = 40
"""Columns of a call, or of a question; on a wide terminal a quarter of it."""
_WIDE = 100
"""Columns of one decision where the output is no terminal."""
_HEADERS = ["#", "When", "Session", "Call", "Risk", "Verdict", "By", "Why"]
_WORDS: dict[str, list[str]] = {
    "risk": [*Risk],
    "verdict": [*Verdict, "answer"],
    "by": [*DecidedBy],
}


@app.command()
def decisions(  # noqa: PLR0917  # one parameter an option
    ctx: typer.Context,
    number: Annotated[int | None, typer.Argument(help="Show this one in full")] = None,
    session: SessionOption = None,
    risk: Annotated[
        str | None,
        typer.Option(help="LOW, MEDIUM or HIGH", autocompletion=one_of(*_WORDS["risk"])),
    ] = None,
    verdict: Annotated[
        str | None,
        typer.Option(
            help="allow, ask, deny or answer",
            autocompletion=one_of(*_WORDS["verdict"]),
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="policy, brain, rule, person or timeout",
            autocompletion=one_of(*_WORDS["by"]),
        ),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Of the last 30m, 12h, 2d, 3w, …")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, newest first")] = 50,
    as_json: JsonOption = False,
) -> None:
    """
    List what was decided about tool calls, and answered to Claude, newest first, and why.

    Example: pcc decisions --verdict deny --since 1d
    """
    if number is not None:
        if any((session, risk, verdict, by, since)):
            raise Mistyped(
                "A number names one decision, and the options many",
                hint=f"See that one with: pcc decisions {number}",
            )
        _show_one(ctx.obj, number, as_json=as_json)
        return
    filters = {
        "risk": _word("risk", risk),
        "verdict": _word("verdict", verdict),
        "decided_by": _word("by", by),
        "since": None if since is None else time.time() - seconds_of(since),
    }
    with connect(ctx.obj) as daemon:
        found = _found(daemon, limit, session, filters)
    if as_json:
        print_json(found)
    elif not found:
        is_filtered = session or any(filters.values())
        print("Nothing of that kind was decided." if is_filtered else "Nothing was decided yet.")
    else:
        columns = terminal_width()
        room = None if columns is None else max(_CALL, columns // 4)
        print(table(_HEADERS, [_row(one, room) for one in found], wrapping={"Call", "Why"}))


def _found(
    daemon: Client, limit: int, session: str | None, filters: dict[str, Any]
) -> list[dict[str, Any]]:
    """Decisions, and answers in their form, newest first."""
    found: list[dict[str, Any]] = []
    if filters["verdict"] != "answer":
        found += _decided(daemon, limit, session=session, **filters)
    if filters["risk"] is None and filters["verdict"] in {None, "answer"}:
        answers = daemon.call("answer.list", session=session, limit=max(limit, _ANSWERS))
        found += [
            as_decision
            for one in answers
            if filters["decided_by"] in {None, one["decided_by"]}
            and one["at"] >= (filters["since"] or 0)
            for as_decision in _answered(one)
        ]
    return sorted(found, key=lambda one: -float(one["at"]))[:limit]


def _show_one(options: GlobalOptions, number: int, *, as_json: bool) -> None:
    with connect(options) as daemon:
        found = daemon.call("decision.list", before=number + 1, limit=1)
    if not found or found[0]["id"] != number:
        raise PerpetualError(
            f"No decision has the number {number}", hint="See them with: pcc decisions"
        )
    [one] = found
    if as_json:
        print_json(one)
        return
    told = {
        "Decision": str(number),
        "When": clock(one["at"]),
        "Session": one["session"],
        "Project": one["project"],
        "Call": f"{one['tool']} {one['summary']}",
        "Risk": one["risk"],
        "Verdict": f"{one['verdict']}, by {one['decided_by']} (confidence {one['confidence']:.2f})",
        "Why": one["reason"],
    }
    room = (terminal_width() or _WIDE) - 10
    for name, text in told.items():
        lines = wrapped(text, room)
        print(f"{name + ':':<10}" + f"\n{'':10}".join(lines))


def _decided(daemon: Client, limit: int, **wanted: Any) -> list[dict[str, Any]]:
    """Page by page: one answer of the engine has room for a part."""
    found: list[dict[str, Any]] = []
    while len(found) < limit:
        before = found[-1]["id"] if found else None
        page = daemon.call("decision.list", limit=limit - len(found), before=before, **wanted)
        if not page:
            break
        found += page
    return found


def _answered(one: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers of one request, in the shape of decisions; a question has no risk."""
    return [
        {
            "at": one["at"],
            "session": one["session"],
            "project": one.get("project", ""),
            "tool": "AskUserQuestion",
            "summary": f"{question} → {answer}",
            "question": question,
            "answer": answer,
            "verdict": "answer",
            "risk": "",
            "confidence": one["confidence"],
            "reason": one["reason"],
            "decided_by": one["decided_by"],
        }
        for question, answer in one["answers"].items()
    ]


def _row(one: dict[str, Any], room: int | None) -> list[str]:
    """`room`: columns of a call; None: as many as it needs."""
    return [
        str(one.get("id", "–")),
        clock(one["at"]),
        one["session"],
        _call(one, room),
        one["risk"],
        one["verdict"],
        one["decided_by"],
        one_line(_why(one)),
    ]


def _call(one: dict[str, Any], room: int | None) -> str:
    """A question and its answer on a line each, where one has no room for both."""
    home = one.get("project", "")
    if one["verdict"] != "answer":
        call = one_line(f"{one['tool']} {from_home(one['summary'], home, mark='…/')}")
        return call if room is None else fit(call, room)
    said = one_line(from_home(one["summary"], home))
    if room is None or width(said) <= room:
        return said
    answer = fit(one_line(one["answer"]), room - 2)
    return f"{fit(one_line(from_home(one['question'], home)), room)}\n→ {answer}"


def _why(one: dict[str, Any]) -> str:
    """The reason without what the call says already: its subject, and where the project is."""
    reason, summary = str(one["reason"]), str(one["summary"])
    subject, _, rest = reason.partition(": ")
    is_said = subject == summary or subject.endswith(f"/{summary}")
    return from_home(rest if rest and is_said else reason, one.get("project", ""))


def _word(option: str, word: str | None) -> str | None:
    if word is None:
        return None
    for known in _WORDS[option]:
        if known.casefold() == word.casefold():
            return known
    raise Mistyped(
        f"--{option} cannot be {word!r}", hint=f"One of: {', '.join(sorted(_WORDS[option]))}"
    )


def _shown(surface: dict[str, str]) -> str:
    """All of it, however long: what is cut off could be what runs."""
    text = f"{one_line(surface['file'])}: {printable(surface['detail'])}"
    indent = " " * 15
    lines = [
        part
        for line in text.splitlines()
        for part in textwrap.wrap(line, 100, break_on_hyphens=False, drop_whitespace=False)
    ]
    return f"  {surface['what']:<12} " + f"\n{indent}".join(lines)


@app.command()
def trust(
    ctx: typer.Context,
    project: ProjectArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Trust it no longer")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Only show, as JSON")] = False,
) -> None:
    """
    Let a project's own Claude settings, hooks, servers and policy take effect.

    Shows what would run. When any of it changes, it counts no longer until you look again.

    Example: pcc trust ./api
    """
    place = directory(project)
    with connect(ctx.obj) as daemon:
        if forget:
            was = daemon.call("trust.forget", project=str(place))
            print(f"{place} is {'no longer' if was else 'not'} trusted")
            return
        found = daemon.call("trust.show", project=str(place))
        if as_json:
            print_json(found)
            return
        if not found["surfaces"]:
            print(f"{place} brings nothing of its own along: there is nothing to trust")
            return
        print(f"{place} brings along:")
        for one in found["surfaces"]:
            print(_shown(one))
        if found["trusted"]:
            print("You trust exactly this already.")
            return
        too_much = any(one["what"] == "limit" for one in found["surfaces"])
        if not (yes or too_much):
            ask("Let all of this take effect?", "It is not trusted")
        daemon.call("trust.set", project=str(place), hash=found["hash"])
    print("Trusted, as it is now. A change asks again.")
