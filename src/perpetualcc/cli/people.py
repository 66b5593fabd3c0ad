"""`pcc pending` and `pcc respond`: what waits for a person."""

import shlex
import sys
import time
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import fit, one_line, print_json, tell
from perpetualcc.cli.options import JsonOption, SessionOption
from perpetualcc.cli.waiting import LIMIT, answer_to, list_waiting
from perpetualcc.cli.which_request import number_in, the_request
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.session_status import SessionStatus

app = typer.Typer(rich_markup_mode=None)


@app.command()
def pending(
    ctx: typer.Context,
    number: Annotated[
        str | None,
        typer.Argument(
            help="Show this one in full; or a session, whose are listed",
            autocompletion=completion.requests,
        ),
    ] = None,
    session: SessionOption = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many")] = LIMIT,
    as_json: JsonOption = False,
) -> None:
    """
    List what waits for a person: the most severe first, then the oldest.

    Example: pcc pending --session abc123
    """
    wanted = None if number is None else number_in(number)
    if wanted is not None:
        _show(ctx, wanted, as_json=as_json)
        return
    list_waiting(ctx.obj, session=number or session, limit=limit, as_json=as_json)


def _show(ctx: typer.Context, number: int, *, as_json: bool) -> None:
    from perpetualcc.cli.asking import packet_lines

    with connect(ctx.obj) as daemon:
        request = daemon.call("escalation.get", number=number)
    if as_json:
        print_json(request)
        return
    print("\n".join(packet_lines(request, time.time())))
    if request["settled_at"] is None:
        print(f"\nRespond with: {answer_to(request)}")


@app.command()
def respond(
    ctx: typer.Context,
    request: Annotated[
        str,
        typer.Argument(
            metavar="NUMBER",
            help="The number that `pcc pending` shows, or a session that waits for one answer",
            autocompletion=completion.requests,
        ),
    ],
    answer: Annotated[
        list[str] | None,
        typer.Argument(help="An option, its number, or your own words; one for each question"),
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Let it happen")] = False,
    deny: Annotated[bool, typer.Option("--deny", help="Do not let it happen")] = False,
    always: Annotated[
        bool,
        typer.Option("--always", help="Approve, and make it a rule (the offered one)"),
    ] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Show everything, then ask")
    ] = False,
) -> None:
    """
    Answer what waits for a person.

    Example: pcc respond 1 "Use PostgreSQL, it's our standard"
    """
    _refuse_contradictions(
        request, answer or [], approve=approve, deny=deny, always=always, interactive=interactive
    )
    if not ("".join(answer or []).strip() or approve or deny or always or interactive):
        raise Mistyped(
            "There is no answer",
            hint=f'pcc respond {shlex.quote(request)} "…", --approve, --deny or --interactive',
        )
    with connect(ctx.obj) as daemon:
        number = the_request(daemon, request)
        if interactive:
            given = _ask(daemon.call("escalation.get", number=number))
        else:
            given = _given(daemon, number, answer or [])
        if approve or deny or always:
            given["approve"] = not deny
        if always:
            given["always"] = True
        settled = daemon.call("escalation.respond", number=number, **given)
        found = daemon.call("session.get", session=settled["session"])
    own = " in your own words" if _is_in_own_words(settled) else ""
    print(f"Answered request {number}{own}: {fit(one_line(settled['answer']), 100)}")
    if found["status"] == SessionStatus.PAUSED:
        note = f"The session is paused; go on with: pcc resume {found['id']}"
        tell(f"note: {note}")
    if always:
        print(settled["rule"] or "No rule can say exactly this; it counts once")


def _is_in_own_words(settled: dict[str, Any]) -> bool:
    """Whether the one question had options, and the answer is none of them."""
    from perpetualcc.human.answers import questions_of

    question, *more = questions_of(settled["raw"], settled["title"])
    labels = {one_line(str(option.get("label", ""))) for option in question.get("options", [])}
    chosen = one_line(str(settled["answer"]))
    is_one = chosen.partition(" (option ")[0] in labels or question.get("multiSelect")
    return settled["type"] == "question" and bool(labels) and not (more or is_one)


def _refuse_contradictions(
    request: str, words: list[str], *, approve: bool, deny: bool, always: bool, interactive: bool
) -> None:
    from perpetualcc.human.answers import NO, YES

    said = {word.strip().casefold() for word in words}
    contradictions = {
        "--approve and --deny contradict each other": (approve or always) and deny,
        "--always takes no words": always and words,
        "--approve and a no contradict each other": approve and said & NO,
        "--deny and a yes contradict each other": deny and said & YES,
        "--interactive asks for the answer": interactive and (words or approve or deny or always),
    }
    for what, is_said in contradictions.items():
        if is_said:
            again = f"pcc respond {shlex.quote(request)} --deny"
            raise Mistyped(what, hint=f"Choose one, such as: {again}")


def _given(daemon: Any, number: int, words: list[str]) -> dict[str, Any]:
    """One text, or one for each question."""
    if len(words) < 2:
        return {"text": words[0]} if words else {}
    from perpetualcc.human.answers import questions_of

    request = daemon.call("escalation.get", number=number)
    questions = questions_of(request["raw"], request["title"])
    if request["type"] != "question" or len(questions) != len(words):
        wanted = "one answer" if len(questions) == 1 else f"{len(questions)} answers"
        quoted = f"Words that belong together in quotes: pcc respond {number} "
        raise PerpetualError(
            f"Request {number} wants {wanted}, and there are {len(words)}",
            hint=quoted + (shlex.quote(" ".join(words)) if wanted == "one answer" else '"…" "…"'),
        )
    return {"answers": {one["question"]: word for one, word in zip(questions, words, strict=True)}}


def _ask(request: dict[str, Any]) -> dict[str, Any]:
    """The seed's prompt, in the terminal."""
    from perpetualcc.cli.asking import Prompt, packet_lines

    print("\n".join(packet_lines(request, time.time())))
    if request["settled_at"] is not None:
        raise PerpetualError(f"Request {request['number']} is settled", hint="pcc pending")
    prompt = Prompt(request=request)
    while True:
        if len(prompt.questions) > 1:
            print("\n".join(prompt.lines()))
        print(prompt.invitation, end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            raise PerpetualError(
                "There is no answer; the request still waits", hint=answer_to(request)
            )
        try:
            answer = prompt.take(line)
        except PerpetualError as error:
            print(f"   {error.message}. {error.hint}")
            continue
        if answer is not None:
            return answer
