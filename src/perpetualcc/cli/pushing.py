"""`pcc accept --push`: the branch of a worktree goes to a remote, for a pull request."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from perpetualcc.cli.connection import connect
from perpetualcc.cli.look import one_line, print_json, printable
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.results import ask, refuse_beside_work, tell

if TYPE_CHECKING:
    from perpetualcc.sessions.worktrees.accepting import Wish
    from perpetualcc.sessions.worktrees.meant import Meant
    from perpetualcc.sessions.worktrees.pushing import Push


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a person wants it done."""

    wish: "Wish"
    asks: bool
    as_json: bool


def push_it(options: GlobalOptions, found: "Meant", folder: Path, way: Way, remote: str) -> None:
    """Raises PerpetualError: it is refused, here or there."""
    from perpetualcc.domain.events import PushBegan, PushDone
    from perpetualcc.sessions.worktrees.pushing import (
        NOTHING_DONE,
        committed,
        push_of,
        pushed,
    )

    push = push_of(found, folder, way.wish, remote)
    if way.asks:
        ask(push.question, NOTHING_DONE)
    with connect(options) as daemon:
        refuse_beside_work(daemon, found.tree.place)
    push = committed(push, folder)
    with connect(options) as daemon:
        tell(daemon, push.told(PushBegan))
    answer = pushed(push)
    with connect(options) as daemon:
        tell(daemon, push.told(PushDone))
    _say(push, answer, as_json=way.as_json)


def _say(push: "Push", answer: tuple[str, ...], *, as_json: bool) -> None:
    tree, to = push.found.tree, push.to
    if as_json:
        named = {"session": push.found.id, "branch": tree.branch, "remote": to.remote}
        print_json({**named, "address": to.shown, "now": tree.head, "answer": list(answer)})
        return
    print(printable(f"Pushed {tree.branch} to {to.remote}, {to.shown}: now {tree.head[:12]}"))
    for line in answer:
        print(f"  {one_line(line)}")
