"""What people are told about an event: ids and a command, or the text too. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perpetualcc.domain.escalations import EscalationType
from perpetualcc.domain.events import (
    EscalationRaised,
    EscalationReminded,
    Event,
    SessionStatusChanged,
    TaskSettled,
)
from perpetualcc.domain.limits import IN_VAIN, LIMIT_NAMES
from perpetualcc.domain.secrets import redact
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.texts import cut, from_home
from perpetualcc.domain.times import sent_moment
from perpetualcc.human.how_to_answer import how_to_answer, offer_in
from perpetualcc.human.notifications.outbox import Kind, NewNotice
from perpetualcc.human.notifications.settings import NotificationSettings

_LONGEST = 1000
"""Characters of a body: what a phone shows, and every service takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One text in two lengths. A title is `who: what`, on one line."""

    kind: Kind
    brief: tuple[str, str]
    """Title and body with ids only: what may leave this machine."""
    full: tuple[str, str]
    escalation: int | None = None


def compose(
    event: Event, session: Session | None, *, reviews: int = 0, page: str = ""
) -> Message | None:
    """
    What to say about an event; None when people are not told about it.

    `page`: the address of the dashboard, where there is one for a phone.
    """
    name = session.name if session else str(event.session or "")
    home = str(session.project) if session else ""
    number = str(event.session or "")
    match event:
        case EscalationRaised() | EscalationReminded():
            return _asked(event, (name, number), home, page)
        case SessionStatusChanged(before="PROCESSING", after="COMPLETED", detail=summary):
            return _completed(name, number, reviews, from_home(summary, home))
        case TaskSettled(state="done", repeats=True, result=result):
            return _done_again(name, number, from_home(result, home))
        case SessionStatusChanged(after="RATE_LIMITED") if _is_news(event):
            return _limited(event, name, number)
        case _:
            return None


def wanted(kind: Kind, settings: NotificationSettings) -> bool:
    return {
        Kind.QUESTION: settings.on_question,
        Kind.COMPLETION: settings.on_complete,
        Kind.LIMIT: settings.on_rate_limit,
        Kind.ERROR: settings.on_error,
        Kind.TEST: True,
    }[kind]


_HICCUPS = tuple(name for window, name in LIMIT_NAMES.items() if window.is_a_hiccup)
"""No limits of anybody's, and mostly over within minutes: nobody is called for them at first."""


def _is_news(limited: SessionStatusChanged) -> bool:
    """Not where it waited already, and only waits longer, nor where a server hiccups."""
    is_passing = limited.detail.startswith(_HICCUPS) and not limited.detail.endswith(IN_VAIN)
    return limited.before != limited.after and not is_passing


_REASONS = {
    EscalationType.QUESTION: "has a question",
    EscalationType.PERMISSION: "needs a permission",
    EscalationType.ERROR: "has a task that needs you",
}


Asking = EscalationRaised | EscalationReminded


def _asked(event: Asking, who: tuple[str, str], home: str, page: str) -> Message | None:
    name, session = who
    reason = _REASONS.get(EscalationType(event.type))
    if reason is None:
        return None  # a review waits for whoever looks
    if _is_agreed_to(event):
        reason = "wants you to agree"
    if isinstance(event, EscalationReminded):
        since = sent_moment(event.raised_at)
        reason = f"still {reason} (since {since})"
    how = how_to_answer(event.number, event.type, event.questions, event.options)
    answer = f"Answer with: {how}"
    if page:
        answer += f"\nOr on a paired device: {page}/#/waiting/{event.number}"
    see = f"See it with: pcc pending {event.number}"
    return Message(
        kind=Kind.ERROR if event.type == EscalationType.ERROR else Kind.QUESTION,
        brief=(
            f"PerpetualCC: {session} {reason}",
            f"Session {session} {reason} (#{event.number}). {see}\n{answer}",
        ),
        full=(
            f"PerpetualCC: {_line(name)} {reason}",
            _cut("\n".join(_asking(event, home))) + f"\nSession {session}. {answer}",
        ),
        escalation=event.number,
    )


def _is_agreed_to(event: Asking) -> bool:
    return any(question.get("yes_or_no") for question in event.questions)


def _asking(event: Asking, home: str) -> Iterator[str]:
    # A call is named as it would be made.
    yield event.title if event.type == EscalationType.PERMISSION else from_home(event.title, home)
    if _is_agreed_to(event):
        yield from_home(event.context, home)
    for question in event.questions or [{"options": event.options}]:
        labels = [str(option.get("label", "")) for option in question.get("options", [])]
        if labels and event.type == EscalationType.QUESTION:
            yield "  ".join(f"[{place}] {label}" for place, label in enumerate(labels, start=1))
    if offer := offer_in(event.options):
        yield f"Offer: {offer}"
    if event.suggestion:
        yield f"Suggestion: {event.suggestion} ({event.confidence:.0%})"


def _completed(name: str, session: str, reviews: int, summary: str) -> Message:
    waiting = "1 refused call waits" if reviews == 1 else f"{reviews} refused calls wait"
    left = f"\n{waiting} for your review: pcc pending" if reviews else ""
    done = f"Session {session} has completed"
    counted = summary.partition("\n")[0]
    brief = f"{done}: {counted}." if counted else f"{done}."
    return _done(
        (name, session), "is done", brief, f"{done}: {summary}" if summary else brief, left
    )


def _done_again(name: str, session: str, result: str) -> Message:
    """One time of several: the session goes on waiting for the next."""
    what = "is done for this time"
    done = f"Session {session} {what}"
    return _done((name, session), what, f"{done}.", f"{done}: {result}" if result else f"{done}.")


def _done(who: tuple[str, str], what: str, brief: str, full: str, left: str = "") -> Message:
    """`left`: what waits all the same, on a line of its own."""
    name, session = who
    see = f"See: pcc status {session}{left}"
    return Message(
        kind=Kind.COMPLETION,
        brief=(f"PerpetualCC: {session} {what}", f"{brief}\n{see}"),
        full=(f"PerpetualCC: {_line(name)} {what}", f"{_cut(full)}\n{see}"),
    )


def _limited(event: SessionStatusChanged, name: str, session: str) -> Message:
    at = event.resumes_at
    when = f", until {sent_moment(at)}" if at else ""
    why = f" ({event.detail})" if event.detail else ""
    waits = f"waits for a limit{when}{why}; it goes on by itself.\nSee: pcc status {session}"
    return Message(
        kind=Kind.LIMIT,
        brief=(f"PerpetualCC: {session} waits for a limit", f"Session {session} {waits}"),
        full=(
            f"PerpetualCC: {_line(name)} waits for a limit",
            f"Session {_line(name)} ({session}) {waits}",
        ),
    )


def in_one(limits: Sequence[NewNotice]) -> tuple[str, str]:
    """Title and body of one message for several that name a session each, and say where to look."""
    each = [line for one in limits for line in one.body.splitlines()[:-1]]
    title = f"PerpetualCC: {len(each)} sessions wait for a limit"
    return title, _cut("\n".join(each)) + "\nSee: pcc list"


def _line(text: str) -> str:
    return " ".join(_clean(text).split())[:80]


def _cut(text: str) -> str:
    return cut(_clean(text).strip(), _LONGEST)


def _clean(text: str) -> str:
    """No secrets, and nothing that could steer what shows it."""
    return "".join(c if c == "\n" or c.isprintable() else " " for c in redact(text))
