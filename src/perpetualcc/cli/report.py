"""`pcc report`: what happened while nobody looked."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.connection import connect
from perpetualcc.cli.lines import told_of
from perpetualcc.cli.look import (
    clock,
    coloured,
    fit,
    hung,
    moment,
    one_line,
    print_json,
    terminal_width,
    width,
)
from perpetualcc.cli.options import JsonOption
from perpetualcc.cli.since import seconds_of
from perpetualcc.cli.statuses import goes_on, is_to_be_taken, standing
from perpetualcc.cli.waiting import answer_to, title_of
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.texts import counted, from_home, thousands
from perpetualcc.sessions.outage_words import outage_words
from perpetualcc.sessions.report_words import HEARD, dealt_with, often, sums, waited, waits

app = typer.Typer(rich_markup_mode=None)

_TASKS, _FILES, _ANSWERS, _REFUSED, _PROBLEMS, _WORDS = 20, 8, 8, 5, 3, 5
"""So many of each are shown; the newest. All of them: --json."""
_REASON = 200
"""Characters of why a call was refused: what counts stands at its end."""
_WIDE = 110
"""Columns where the output is no terminal."""
_SIGNS = {"done": ("✓", "green"), "cancelled": ("■", "dim")}
_BY = {"policy": "the rules", "brain": "the brain", "person": "you"}


@app.command()
def report(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION",
            help="Only this one: id or name",
            autocompletion=completion.sessions(),
        ),
    ] = None,
    since: Annotated[str, typer.Option(help="Of the last 30m, 12h, 2d, 3w, …")] = "24h",
    as_json: JsonOption = False,
) -> None:
    """
    Tell what happened while you were away: tasks, answers, refusals, files, costs.

    Example: pcc report --since 12h
    """
    seconds = seconds_of(since)
    with connect(ctx.obj) as daemon:
        told = daemon.call("report.show", session=session, seconds=seconds)
        waiting = daemon.call("escalation.list", session=session, limit=10)
    if as_json:
        print_json({**told, "waiting": waiting})
        return
    print(hung(_heading(told, since)))
    for line in outage_lines(told):
        print(hung(line))
    for one in told["sessions"]:
        print("\n".join(["", *map(hung, (*session_lines(one), *_ways(one)))]))
    if waiting:
        print("\nWaits for you:")
        for request in waiting:
            print(f"  #{request['number']} {_fitted(title_of(request), 5)}")
            print(hung(f"     {answer_to(request)}"))


def _heading(told: dict[str, Any], since: str) -> str:
    sessions = told["sessions"]
    when = f"The last {one_line(since)}, since {moment(told['since'])}"
    if not sessions:
        return f"{when}: nothing happened."
    return f"{when}: {sums(sessions)}"


def outage_lines(told: dict[str, Any]) -> list[str]:
    """The hours in which nothing ran."""
    found = told.get("outages", ())  # a daemon from before an upgrade tells of none
    return [
        outage_words(
            {**one, "cause": one_line(one["cause"]), "detail": one_line(one["detail"])},
            until=told["until"],
            moment=moment,
        )
        for one in found
    ]


def session_lines(one: dict[str, Any]) -> Iterator[str]:
    """What it came to; `pcc review` begins with it, too."""
    session = one["session"]
    home = session["project"]
    symbol, word, colour = standing(session)
    at = session["resumes_at"]
    is_told = session["status"] == SessionStatus.RATE_LIMITED  # by `waits`
    later = f", {goes_on(session).lower()} {moment(at)}" if at and not is_told else ""
    head = f"{session['name']} ({session['id']}), {word.lower()}{later}"
    yield f"{coloured(symbol, colour)} {_fitted(head, 2)}"
    yield f"  {_fitted(home, 2)}"
    yield from came_to(one)


def came_to(one: dict[str, Any]) -> Iterator[str]:
    """Below its name and its project."""
    home = one["session"]["project"]
    yield from _newest([_task(task, home) for task in one["tasks"]], _TASKS, "task")
    if one["files"]:
        shown = ", ".join(one_line(name) for name in one["files"][:_FILES])
        more = f", and {len(one['files']) - _FILES} more" if len(one["files"]) > _FILES else ""
        yield f"  {counted(len(one['files']), 'file')} written: {shown}{more}"
    if one["checks"]:
        is_mended = one["tasks"] and all(task["state"] == "done" for task in one["tasks"])
        yield f"  {counted(one['checks'], 'check')} failed{' on the way' if is_mended else ''}"
    yield from _newest([_answer(given, home) for given in one["answers"]], _ANSWERS, "answer")
    yield from _newest([_refusal(call, home) for call in one["refused"]], _REFUSED, "refusal")
    # A daemon from before an upgrade tells of no words.
    yield from _newest([_word(word) for word in one.get("words", ())], _WORDS, "word")
    said = one | {"session": {**one["session"], "detail": one_line(one["session"]["detail"])}}
    for told in filter(None, [*map(one_line, waited(said)), waits(said, moment)]):
        yield f"  {told[0].upper()}{told[1:]}"
    if one.get("restarts"):  # a daemon from before an upgrade tells of none
        yield f"  Cut off{often(one['restarts'])}, and taken over after a restart of the daemon"
    for each in one.get("dealt_with", ()):
        yield f"  {_fitted(one_line(dealt_with(each, one['session']['id'])), 2)}"
    if one["handovers"]:
        yield f"  Handed over to a fresh conversation{often(one['handovers'])}"
    yield from _newest(
        [
            [f"  Problem: {_fitted(one_line(from_home(text, home)), 11)}"]
            for text in one["problems"]
        ],
        _PROBLEMS,
        "problem",
    )
    if one["runs"]:
        yield (
            f"  {counted(one['runs'], 'run')}, {counted(one['allowed'], 'tool call')},"
            f" {thousands(one['tokens'])} fresh tokens, ${one['usd']:.2f}"
        )


def _ways(one: dict[str, Any]) -> Iterator[str]:
    """What to type next."""
    session = one["session"]
    if is_to_be_taken(session):
        yield f"  Take it, or throw it away: pcc review {session['id']}"
    if one.get("snapshots"):
        ways = f"  See it: pcc diff {session['id']}", f"  Take it back: pcc undo {session['id']}"
        fits = width("".join(ways)) <= (terminal_width() or _WIDE)
        yield from ["".join(ways)] if fits else ways


def _task(task: dict[str, Any], home: str) -> list[str]:
    sign, colour = _SIGNS.get(task["state"], ("✗", "red"))
    lines = [f"  {coloured(sign, colour)} {clock(task['at'])}  {_fitted(task['prompt'], 22)}"]
    result = from_home(task["result"], home).strip()
    return [*lines, f"      {_fitted(result, 6)}"] if result else lines


def _answer(given: dict[str, Any], home: str) -> list[str]:
    by = _BY.get(given["by"], given["by"])
    told = f" → {one_line(given['answer'])} (by {by})"
    room = (terminal_width() or _WIDE) - 4
    # Of a long question the beginning says enough; the answer is what is looked for.
    question = fit(one_line(from_home(given["question"], home)), max(room - width(told), room // 3))
    lines = [f"  ? {_fitted(question + told, 4)}"]
    is_known = given["because"] and given["by"] != "person"
    because = one_line(from_home(given["because"], home))
    return [*lines, f"      {_fitted(because, 6)}"] if is_known else lines


def _refusal(call: dict[str, Any], home: str) -> list[str]:
    what = f"{one_line(call['tool'])} → {one_line(call['summary'])}"
    return [
        f"  {coloured('✗', 'red')} Refused{often(call['times'])}: {_fitted(what, 20)}",
        f"      {fit(from_home(told_of(call), home), _REASON)}",
    ]


def _word(word: dict[str, Any]) -> list[str]:
    heard = f" ({HEARD.get(word['heard'], word['heard'])})"
    room = (terminal_width() or _WIDE) - 16
    text = fit(one_line(word["text"]), max(room - width(heard), room // 3))
    return [f'  You said: "{text}"{heard}']


def _newest(found: Sequence[Sequence[str]], most: int, noun: str) -> Iterator[str]:
    if len(found) > most:
        yield f"  … {counted(len(found) - most, noun)} before; all of them: pcc report --json"
    for lines in found[-most:]:
        yield from lines


def _fitted(text: str, taken: int) -> str:
    """Cut to what the line has room for, beside so many columns."""
    return fit(text, max(20, (terminal_width() or _WIDE) - taken))
