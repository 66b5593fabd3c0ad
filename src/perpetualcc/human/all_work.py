"""Whether anything goes on at all: what people are told when the last session comes to stand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from perpetualcc.domain.limits import REVIEW
from perpetualcc.domain.texts import counted
from perpetualcc.domain.times import sent_moment
from perpetualcc.human.notifications.message import Message, Next, Who, wanted
from perpetualcc.human.notifications.outbox import Kind
from perpetualcc.human.notifications.settings import Content, NotificationSettings

_ALL_DONE = "Nothing else runs: all work is done."
_MOST = 8
"""Sessions that are named."""


class Stands(StrEnum):
    """What a session that does not go on waits for."""

    PERSON = "person"
    LIMIT = "limit"
    BUDGET = "budget"
    REVIEW = "review"
    """Of results of others, by a person."""
    PAUSED = "paused"
    """A person has paused it, and knows."""
    LATER = "later"
    """All it has to do begins later than in a day."""


_KINDS = dict.fromkeys((Stands.LIMIT, Stands.BUDGET, Stands.REVIEW), Kind.LIMIT)
_WORDS = {
    Stands.PERSON: ("waits for you", "wait for you"),
    Stands.LIMIT: ("waits for a limit", "wait for a limit"),
    Stands.BUDGET: ("is out of budget", "are out of budget"),
    Stands.REVIEW: (REVIEW, REVIEW.replace("waits", "wait")),
    Stands.PAUSED: ("is paused", "are paused"),
    Stands.LATER: ("begins later", "begin later"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A session that does not go on."""

    who: Who
    why: Stands
    until: float | None = None
    """UTC epoch seconds at which it goes on by itself; None: it does not, or nobody knows."""
    failed: bool = False
    """It waits for a person because a task of its has stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllWork:
    """What goes on and what stands, seen from a session that has just come to rest."""

    goes_on: bool
    """Something runs, or begins within a day, after a pause or once a condition holds. Work that
    comes again and again does not count: with it nothing would ever stand."""
    standing: Sequence[Standing]
    alone: bool
    """It is the only one that stands, and no other worked beside its newest run."""
    turn: int
    """The number of the newest run of all: of one standstill it is always the same."""
    begins_later: bool = False
    """The session that has come to rest has work left, later than in a day."""
    next: Next | None = None
    """What begins first of all that is for later, what comes again and again included."""

    @property
    def is_done(self) -> bool:
        return not self.goes_on and not self.standing


def told_of_all(work: AllWork, settings: NotificationSettings) -> Message | None:
    """
    What to say when nothing goes on; None where something does, or the session's own message says
    it all: it worked alone, or all is done.
    """
    if work.goes_on or not settings.on_standstill or _is_told(work, settings):
        return None
    brief, named, full = (_text(work, content) for content in Content)
    return Message(kind=Kind.STANDSTILL, brief=brief, named=named, full=full)


def left_of(work: AllWork) -> str:
    """What is said of all work beside what the session that is done came to."""
    if work.goes_on or any(one.why is not Stands.LATER for one in work.standing):
        return ""
    told = _ALL_DONE if work.is_done else "Nothing else runs."
    return f"{told}\n{work.next.line(Content.BRIEF)}" if work.next else told


def _is_told(work: AllWork, settings: NotificationSettings) -> bool:
    """The session's own message says it, or a person has seen to it."""
    if all(one.why is Stands.LATER for one in work.standing):
        return not work.begins_later and wanted(Kind.COMPLETION, settings)
    if all(one.why is Stands.PAUSED for one in work.standing):
        return True
    return work.alone and _says_itself(work, settings)


def _says_itself(work: AllWork, settings: NotificationSettings) -> bool:
    """Whether people were told why the only one stands."""
    (one,) = work.standing
    asked = Kind.ERROR if one.failed else Kind.QUESTION
    return wanted(_KINDS.get(one.why, asked), settings)


def _text(work: AllWork, content: Content) -> tuple[str, str]:
    summary = ", ".join(_counted(work.standing)) or "all work is done"
    lines = [f"Nothing runs any more: {summary}"]
    named = [one for one in work.standing if one.why is not Stands.LATER]  # `next` names the first
    lines += [
        f"{one.who.placed(content)} {_WORDS[one.why][0]}{_until(one.until)}"
        for one in named[:_MOST]
    ]
    if len(named) > _MOST:
        lines.append(f"and {counted(len(named) - _MOST, 'session')} more: pcc list")
    if work.next:
        lines.append(work.next.line(content))
    is_asked = any(one.why is Stands.PERSON for one in named)
    see = "pcc pending" if is_asked else "pcc list" if work.standing else "pcc report"
    return f"PerpetualCC: nothing runs any more ({summary})", "\n".join([*lines, f"See: {see}"])


def _counted(standing: Sequence[Standing]) -> Iterator[str]:
    """`2 wait for you`, `1 is out of budget until Mon 00:00`."""
    for why, (one, several) in _WORDS.items():
        found = [each for each in standing if each.why is why]
        if found:
            times = [each.until for each in found if each.until is not None]
            until = _until(min(times)) if len(times) == len(found) else ""
            yield f"{len(found)} {one if len(found) == 1 else several}{until}"


def _until(at: float | None) -> str:
    return f" until {sent_moment(at)}" if at else ""
