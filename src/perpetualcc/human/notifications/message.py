"""What people are told about an event: ids and a command, names too, or the text. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from perpetualcc.domain.escalations import EscalationType
from perpetualcc.domain.events import (
    EscalationRaised,
    EscalationReminded,
    Event,
    SessionStatusChanged,
    TaskSettled,
)
from perpetualcc.domain.limits import IN_VAIN, LIMIT_NAMES, REVIEW
from perpetualcc.domain.secrets import redact
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.texts import cut, from_home
from perpetualcc.domain.times import sent_moment
from perpetualcc.human.how_to_answer import how_to_answer, offer_in
from perpetualcc.human.notifications.outbox import Kind, NewNotice
from perpetualcc.human.notifications.settings import Content, NotificationSettings

_LONGEST = 1000
"""Characters of a body: what a phone shows, and every service takes."""


Text = tuple[str, str]
"""Title and body. A title is `PerpetualCC: what`, on one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One text in three lengths."""

    kind: Kind
    brief: Text
    """With ids only, and names that a person gave: what may leave this machine."""
    named: Text
    """With the names of sessions and projects."""
    full: Text
    escalation: int | None = None

    def text(self, content: Content) -> Text:
        return {Content.BRIEF: self.brief, Content.NAMES: self.named, Content.FULL: self.full}[
            content
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """What a session is called in a message."""

    id: str
    own: str = ""
    """The name that a person gave it: their word, and no content of anybody's."""
    whole: str = ""
    """The project's folder and the session's name, which may be made from its task: `api: mend`."""

    @classmethod
    def of(cls, session: Session | None, id_: str = "") -> "Who":
        if session is None:
            return cls(id=id_)
        name = line(session.name)
        own = name if session.options.is_named else ""
        return cls(id=session.id, own=own, whole=f"{line(session.project.name)}: {name}")

    def called(self, content: Content) -> str:
        """As much of it as that content may say; the id where that is nothing."""
        return (self.own if content is Content.BRIEF else self.whole) or self.id

    def placed(self, content: Content) -> str:
        """The same, with the id that commands take."""
        called = self.called(content)
        return called if called == self.id else f"{called} ({self.id})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """A session that goes on by itself."""

    who: Who
    how: str
    """`begins`, `resumes`."""
    at: float

    def line(self, content: Content) -> str:
        return f"Next: {self.who.placed(content)} {self.how} {sent_moment(self.at)}"


def compose(
    event: Event, session: Session | None, *, reviews: int = 0, page: str = "", left: str = ""
) -> Message | None:
    """
    What to say about an event; None when people are not told about it.

    `page`: the address of the dashboard, where there is one for a phone. `left`: what is to be said
    of all work when a session has completed.
    """
    who = Who.of(session, str(event.session or ""))
    home = str(session.project) if session else ""
    match event:
        case EscalationRaised() | EscalationReminded():
            return _asked(event, who, home, page)
        case SessionStatusChanged(before="PROCESSING", after="COMPLETED", detail=summary):
            return _completed(who, reviews, from_home(summary, home), left)
        case TaskSettled(state="done", repeats=True, result=result):
            return _done_again(who, from_home(result, home))
        case SessionStatusChanged(after="RATE_LIMITED") if is_news_of_a_limit(event):
            return _limited(event, who)
        case _:
            return None


def wanted(kind: Kind, settings: NotificationSettings) -> bool:
    return {
        Kind.QUESTION: settings.on_question,
        Kind.COMPLETION: settings.on_complete,
        Kind.LIMIT: settings.on_rate_limit,
        Kind.ERROR: settings.on_error,
        Kind.STANDSTILL: settings.on_standstill,
        Kind.DIGEST: bool(settings.digest),
        Kind.TEST: True,
    }[kind]


_HICCUPS = tuple(name for window, name in LIMIT_NAMES.items() if window.is_a_hiccup)
"""No limits of anybody's, and mostly over within minutes: nobody is called for them at first."""


def is_news_of_a_limit(limited: SessionStatusChanged) -> bool:
    """Not where it waited already, and only waits longer, nor where a server hiccups."""
    return limited.before != limited.after and not is_passing(limited.detail)


def is_passing(detail: str) -> bool:
    """Whether what a session waits for is a server that hiccups."""
    return detail.startswith(_HICCUPS) and not detail.endswith(IN_VAIN)


_REASONS = {
    EscalationType.QUESTION: "has a question",
    EscalationType.PERMISSION: "needs a permission",
    EscalationType.ERROR: "has a task that needs you",
}


Asking = EscalationRaised | EscalationReminded


def _asked(event: Asking, who: Who, home: str, page: str) -> Message | None:
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
        answer += f"\n{on_a_device(page, event.number)}"
    see = f"See it with: pcc pending {event.number}"
    asking = _cut("\n".join(_asking(event, home)))
    return _message(
        Kind.ERROR if event.type == EscalationType.ERROR else Kind.QUESTION,
        who,
        reason,
        lambda placed: f"Session {placed} {reason} (#{event.number}). {see}\n{answer}",
        f"{asking}\nSession {who.id}. {answer}",
        event.number,
    )


def on_a_device(page: str, number: int) -> str:
    """Where a paired phone answers a request."""
    return f"Or on a paired device: {page}/#/waiting/{number}"


def _message(
    kind: Kind,
    who: Who,
    what: str,
    body: Callable[[str], str],
    full: str,
    escalation: int | None = None,
) -> Message:
    """`body` says it of a session that is called so; `full` with the text."""
    brief, named, whole = (
        (f"PerpetualCC: {who.called(content)} {what}", body(who.placed(content)))
        for content in (Content.BRIEF, Content.NAMES, Content.FULL)
    )
    return Message(
        kind=kind, brief=brief, named=named, full=(whole[0], full), escalation=escalation
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


def _completed(who: Who, reviews: int, summary: str, left: str) -> Message:
    waiting = "1 refused call waits" if reviews == 1 else f"{reviews} refused calls wait"
    then = f"\n{waiting} for your review: pcc pending" if reviews else ""
    counted = summary.partition("\n")[0]
    return _done(who, "is done", "has completed", (counted, summary), f"{then}\n{left}".rstrip())


def _done_again(who: Who, result: str) -> Message:
    """One time of several: the session goes on waiting for the next."""
    what = "is done for this time"
    return _done(who, what, what, ("", result))


def _done(who: Who, what: str, verb: str, said: Text, left: str = "") -> Message:
    """`said`: what it came to, without a word of the work and with; `left`: what is left of all."""
    see = f"See: pcc status {who.id}{left}"

    def body(placed: str, said: str) -> str:
        return f"Session {placed} {verb}: {said}" if said else f"Session {placed} {verb}."

    return _message(
        Kind.COMPLETION,
        who,
        what,
        lambda placed: f"{body(placed, said[0] and f'{said[0]}.')}\n{see}",
        f"{_cut(body(who.id, said[1]))}\n{see}",
    )


def _limited(event: SessionStatusChanged, who: Who) -> Message:
    at = event.resumes_at
    when = f", until {sent_moment(at)}" if at else ""
    why = f" ({event.detail})" if event.detail else ""
    what, told = "waits for a limit", f"waits for a limit{when}{why}"
    if event.detail.startswith(REVIEW):
        what, told = REVIEW, event.detail
    waits = f"{told}; it goes on by itself.\nSee: pcc status {who.id}"
    return _message(
        Kind.LIMIT,
        who,
        what,
        lambda placed: f"Session {placed} {waits}",
        f"Session {who.placed(Content.FULL)} {waits}",
    )


def in_one(limits: Sequence[NewNotice]) -> tuple[str, str]:
    """Title and body of one message for several that name a session each, and say where to look."""
    each = [line for one in limits for line in one.body.splitlines()[:-1]]
    title = f"PerpetualCC: {len(each)} sessions wait for a limit"
    return title, _cut("\n".join(each)) + "\nSee: pcc list"


def line(text: str) -> str:
    """A name or a title: on one line of 80 characters, with nothing that steers a screen."""
    return " ".join(_clean(text).split())[:80]


def _cut(text: str) -> str:
    return cut(_clean(text).strip(), _LONGEST)


def _clean(text: str) -> str:
    """No secrets, and nothing that could steer what shows it."""
    return "".join(c if c == "\n" or c.isprintable() else " " for c in redact(text))
