"""The list of what waits for a person."""

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from perpetualcc.cli.connection import connect
from perpetualcc.cli.look import fit, one_line, print_json, table
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.domain.limits import REVIEW
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.texts import from_home
from perpetualcc.domain.times import ago
from perpetualcc.human.how_to_answer import how_to_answer, offer_in

if TYPE_CHECKING:
    from perpetualcc.gateway.client import Client

LIMIT = 100
"""So many are shown when nobody says how many."""
_NAME = 24
"""Characters of a session's name."""
_MARKS = {"permission": "…/", "review": "…/"}
"""What the project's path is where a call is named."""
_TYPES = {"permission": "Perm.", "question": "Q&A", "error": "Error", "review": "Review"}


def list_waiting(
    options: GlobalOptions,
    *,
    session: str | None = None,
    limit: int = LIMIT,
    as_json: bool = False,
) -> None:
    """Print what waits: the most severe first, then the oldest."""
    with connect(options) as daemon:
        waiting = daemon.call("escalation.list", session=session, limit=limit)
        more = daemon.call("escalation.count", session=session) - len(waiting)
        held = _held(daemon, session)
    if as_json:
        print_json(waiting)
    elif not waiting:
        print("\n".join(held) or "Nothing waits for you.")
    else:
        print("Pending Human Decisions:")
        print(
            table(["#", "Session", "Type", "Question", "Waiting"], [_row(one) for one in waiting])
        )
        print(f"\nRespond with: {answer_to(waiting[0])}")
        print("".join(_choices(waiting[0])), end="")
        print(f"Or interactive: pcc respond {waiting[0]['number']} --interactive")
        print("".join(_offers(waiting)), end="")
        print("".join(f"{line}\n" for line in held), end="")
    if more > 0:
        others = "pcc pending --limit N" if len(waiting) == limit else "pcc pending --session NAME"
        print(f"{more} more wait; see them with: {others}", file=sys.stderr)


def _held(daemon: "Client", session: str | None) -> list[str]:
    """What begins once results are reviewed."""
    if session is None:
        found = daemon.call("session.list", status=SessionStatus.RATE_LIMITED)
    else:
        found = [daemon.call("session.get", session=session)]
    return [
        f"{fit(one_line(one['name']), _NAME)} ({one['id']}) {one_line(one['detail'])}"
        for one in found
        if one["detail"].startswith(REVIEW)
    ]


def _choices(one: dict[str, Any]) -> Iterator[str]:
    """What the numbers of its answer stand for."""
    questions = one["raw"].get("questions") or []
    if one["type"] == "question" and len(questions) == 1 and questions[0].get("options"):
        from perpetualcc.cli.lines import options_in_a_line

        yield f"Options: {options_in_a_line(questions[0])}\n"


def _offers(waiting: list[dict[str, Any]]) -> Iterator[str]:
    for one in waiting:
        if words := offer_in(one["options"]):
            yield f"#{one['number']}: {words}\n"


def answer_to(one: dict[str, Any]) -> str:
    """What to type to answer it, as it stands now."""
    if one["type"] == "review":
        words = (
            '"seen" (or --always; its task is over)'
            if one.get("task_is_over")
            else '--approve (for the next time, or "seen")'
        )
        return f"pcc respond {one['number']} {words}"
    questions = one["raw"].get("questions") or ()
    return how_to_answer(one["number"], one["type"], questions, one["options"])


def title_of(one: dict[str, Any]) -> str:
    """What is asked, in the room that a line has."""
    return from_home(one["title"], one.get("project", ""), mark=_MARKS.get(one["type"], ""))


def _row(one: dict[str, Any]) -> list[str]:
    waited = ago(time.time() - one["raised_at"])
    return [
        str(one["number"]),
        fit(one.get("name") or one["session"], _NAME),
        _TYPES.get(one["type"], one["type"]),
        fit(title_of(one), 50),
        waited,
    ]
