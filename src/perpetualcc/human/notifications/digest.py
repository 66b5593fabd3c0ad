"""The day in one message: what waits first, then what was done, what is next and what it cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perpetualcc.domain.escalations import Escalation, EscalationType
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.texts import counted, from_home
from perpetualcc.domain.times import sent_moment
from perpetualcc.human.how_to_answer import how_to_answer
from perpetualcc.human.notifications.message import Message, Next, Who, line, on_a_device
from perpetualcc.human.notifications.outbox import Kind
from perpetualcc.human.notifications.settings import Content

_WAITING, _TASKS, _NEXT, _OUTAGES = 3, 3, 2, 3
"""So many of each are told; the others are counted."""
_ROOM = 900
"""Characters: what a phone shows. Sessions that have no room are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What came of a session."""

    who: Who
    standing: str
    """Its status in a word, and what it came to; ids and counts only."""
    tasks: Sequence[str] = ()
    """With their signs; the newest last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What a digest is made of. Times are UTC epoch seconds."""

    since: float
    until: float
    sums: str
    """Tasks done and not, tokens, cost, in the report's words."""
    worked: Sequence[Worked]
    waiting: Sequence[Escalation]
    """The most severe first."""
    who: Mapping[SessionId, Who]
    homes: Mapping[SessionId, str]
    """Their projects."""
    following: Sequence[Next] = ()
    still_since: float | None = None
    """When the last run ended; None while one is at work."""
    unreviewed: int = 0
    """Sessions that wait until results are reviewed."""
    outages: Sequence[str] = ()
    """When nothing ran although there was work, and why; oldest first. No content."""


def digest_of(day: Day, *, page: str = "", kind: Kind = Kind.DIGEST) -> Message:
    """`page`: the address of the dashboard, where there is one for a phone."""
    brief, named, full = (_text(day, page, content) for content in Content)
    return Message(kind=kind, brief=brief, named=named, full=full)


def _text(day: Day, page: str, content: Content) -> tuple[str, str]:
    asked = [one for one in day.waiting if one.request.type is not EscalationType.REVIEW]
    waits = f"; {len(asked)} {'waits' if len(asked) == 1 else 'wait'} for you" if asked else ""
    hours = max(1, round((day.until - day.since) / 3600))
    head = list(_waiting(day, asked, page, content))
    if reviews := len(day.waiting) - len(asked):
        noun = "refused call waits" if reviews == 1 else "refused calls wait"
        head.append(f"{reviews} {noun} for your review: pcc pending")
    if day.unreviewed:
        begin = "begins" if day.unreviewed == 1 else "begin"
        head.append(f"{counted(day.unreviewed, 'session')} {begin} after your review: pcc list")
    head.append(f"Since {sent_moment(day.since)}: {day.sums}")
    if (more := len(day.outages) - _OUTAGES) > 0:
        head.append(f"Nothing ran {counted(more, 'time')} before")
    head += day.outages[-_OUTAGES:]
    tail = [*_ahead(day, content), f"See: pcc report --since {hours}h"]
    room = _ROOM - sum(len(one) + 1 for one in [*head, *tail])
    body = "\n".join([*head, *_fitting([_worked(one, content) for one in day.worked], room), *tail])
    return f"PerpetualCC: {day.sums.rsplit(', ', 2)[0]}{waits}", body


def _waiting(day: Day, asked: Sequence[Escalation], page: str, content: Content) -> Iterator[str]:
    if asked:
        yield "Waits for you:"
    for one in asked[:_WAITING]:
        request = one.request
        who = day.who.get(request.session, Who(id=request.session))
        title = line(from_home(request.title, day.homes.get(request.session, "")))
        what = f": {title}" if content is Content.FULL else ""
        yield f"#{one.number} {who.placed(content)}{what}"
        questions = request.raw.get("questions") or ()
        yield f"  {how_to_answer(one.number, request.type, questions, request.options)}"
        if page:
            yield f"  {on_a_device(page, one.number)}"
    if len(asked) > _WAITING:
        yield f"and {len(asked) - _WAITING} more: pcc pending"


def _worked(one: Worked, content: Content) -> str:
    lines = [f"{one.who.placed(content)}, {one.standing}"]
    if content is Content.FULL:
        lines += [f"  {line(task)}" for task in one.tasks[-_TASKS:]]
    return "\n".join(lines)


def _ahead(day: Day, content: Content) -> Iterator[str]:
    for one in sorted(day.following, key=lambda one: one.at)[:_NEXT]:
        yield one.line(content)
    if day.still_since is not None:
        yield f"Nothing runs since {sent_moment(day.still_since)}"


def _fitting(blocks: Sequence[str], room: int) -> Iterator[str]:
    """The newest that have room, and how many have none."""
    shown: list[str] = []
    for block in reversed(blocks):
        room -= len(block) + 1
        if room < 0 and shown:
            break
        shown.insert(0, block)
    if left := len(blocks) - len(shown):
        yield f"… {counted(left, 'session')} before"
    yield from shown
