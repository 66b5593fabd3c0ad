"""The prompt for what waits for a person (seed 000, Component 9): what is asked, and what a typed
line means. The same in `pcc attach` and in `pcc respond --interactive`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from perpetualcc.cli.lines import TITLE
from perpetualcc.cli.look import coloured, fit, one_line, printable
from perpetualcc.domain.texts import from_home
from perpetualcc.domain.times import ago, moment
from perpetualcc.human.answers import NO, YES, AnswerError, choose, questions_of
from perpetualcc.human.how_to_answer import offer_in

Request = Mapping[str, Any]

_MANY = 30
"""Options that a prompt shows; `pcc pending N` shows them all."""
_CALL = 400
"""Lines of a call's input that a person is shown."""
_LINE = 2_000
"""Characters of a line's head, and of its tail."""
_ALWAYS = {"w", "always"}
_DENIES = re.compile(r"\A(?:d|deny)\b[\s:,]+", re.IGNORECASE)
"""`d use a branch` is the refusal and its reason."""


@dataclass(slots=True, kw_only=True)
class Prompt:
    """Asks about one request, one question after the other."""

    request: Request
    given: dict[str, str] = field(default_factory=dict)

    @property
    def number(self) -> int:
        return int(self.request["number"])

    @property
    def questions(self) -> list[Any]:
        raw = self.request.get("raw") or {"questions": self.request.get("questions", [])}
        return questions_of(raw, str(self.request["title"]))

    @property
    def is_question(self) -> bool:
        return bool(self.request["type"] == "question")

    @property
    def question(self) -> Mapping[str, Any]:
        """The one to be answered now."""
        waiting = [one for one in self.questions if one["question"] not in self.given]
        found: Mapping[str, Any] = (waiting or self.questions)[0]
        return found

    def lines(self) -> Iterator[str]:
        """What is asked now, above the line to type on."""
        if not self.is_question:
            if words := offer_of(self.request):
                yield f"   Offer: {words}"
            return
        several = len(self.questions) > 1
        if several:
            place = len(self.given) + 1
            question = from_home(str(self.question["question"]), home_of(self.request))
            yield f"   {place}/{len(self.questions)}: {fit(question, 100)}"
        if self._suggestion:
            confidence = float(self.request.get("confidence") or 0.0)
            yield f'   Brain suggestion: "{fit(self._suggestion, 80)}" ({confidence:.0%} sure)'
        yield from option_lines(self.question, at_most=_MANY)

    @property
    def invitation(self) -> str:
        """What stands before the cursor."""
        match self.request["type"]:
            case "permission" if offer_of(self.request):
                return "   [A]pprove  al[W]ays  [D]eny  or type why not  > "
            case "permission":
                return "   [A]pprove  [D]eny  or type why not  > "
            case "review" if self.request.get("task_is_over"):
                always = "al[W]ays  " if offer_of(self.request) else ""
                return f"   {always}[D]one, seen  > "
            case "review":
                return "   [A]pprove it for the next time  [D]one, seen  > "
            case "error":
                return "   [1] retry  [2] give up  > "
        if self.question.get("yes_or_no"):
            return "   [A]pprove  [D]eny  or type what to do otherwise  > "
        many = " (several: 1,3)" if self.question.get("multiSelect") else ""
        options = len(self.question.get("options", []))
        accept = "[A]ccept brain  " if self._suggestion else ""
        numbers = f"[1-{options}] Select{many}  " if options else ""
        return f"   {accept}{numbers}or type an answer  > "

    def take(self, line: str) -> dict[str, Any] | None:
        """
        The answer, once it is complete.

        Raises:
            AnswerError: the line means nothing here.
        """
        typed = line.strip()
        if not self.is_question:
            return self._word(typed)
        if typed.lower() in {"a", "accept"} and self._suggestion:
            typed = self._suggestion
        self.given[str(self.question["question"])] = choose(self.question, typed)
        if len(self.given) < len(self.questions):
            return None
        return {"answers": dict(self.given)}

    def _word(self, typed: str) -> dict[str, Any]:
        kind = self.request["type"]
        if not typed:
            raise AnswerError("The answer is empty", hint=self.invitation.strip(" >"))
        if kind == "error":
            return {"text": typed}
        if typed.lower() in _ALWAYS and offer_of(self.request):
            return {"approve": True, "always": True}
        if typed.lower() in YES:
            return {"approve": True}
        is_word = typed.lower() in NO or (kind == "review" and typed.lower() == "done")
        return {"approve": False, "text": "" if is_word else _DENIES.sub("", typed)}

    @property
    def _suggestion(self) -> str:
        return str(self.request.get("suggestion") or "") if len(self.questions) == 1 else ""


def home_of(request: Request) -> str:
    """The session's project; empty from a daemon that does not say it yet."""
    return str(request.get("project") or "")


def offer_of(request: Request) -> str:
    """The offer to make a rule of an approval, in words; empty when there is none."""
    return offer_in(request.get("options") or [])


def option_lines(question: Mapping[str, Any], *, at_most: int | None = None) -> Iterator[str]:
    """Numbered options with their descriptions, safe for a terminal."""
    options = list(question.get("options", []))
    for place, option in enumerate(options[:at_most], start=1):
        about = fit(str(option.get("description") or ""), 70)
        about = f" - {about}" if about and about != option.get("label") else ""
        yield f"     [{place}] {fit(str(option.get('label', '')), 60)}{about}"
        preview = printable(str(option.get("preview") or "")).expandtabs(4).strip("\n")
        yield from (f"         │ {line}" for line in _shortened(preview.splitlines()))
    if at_most is not None and len(options) > at_most:
        yield f"     … {len(options) - at_most} more: see them with pcc pending NUMBER"


def untold_lines(request: Request) -> Iterator[str]:
    """What the line about a call leaves out: why a person is asked, and what it would be given."""
    if request["type"] != "permission":
        return
    title = fit(str(request["title"]), TITLE)
    given = dict((request.get("raw") or {}).get("input") or {})
    untold = {name: str(value) for name, value in given.items() if str(value) not in title}
    why = from_home(str(request["context"]), home_of(request))
    for name, text in {"Why": why, **untold}.items():
        yield from (f"   {line}" for line in _block(name, text))


def packet_lines(request: Request, now: float) -> Iterator[str]:
    """Everything a person needs to decide (seed 002), safe for a terminal."""
    waited = ago(now - request["raised_at"])
    head = f"#{request['number']}  {request['type']}, {request['severity']}"
    session = " ".join(filter(None, (request.get("name"), request["session"])))
    yield coloured(f"{head}  (session {one_line(session)}, {waited})", "bold")
    home, raw = home_of(request), request.get("raw") or {}
    # A call is named as it would be made, and what is to be typed as it is typed.
    yield from _block(
        "", request["title"] if raw.get("tool") else from_home(request["title"], home)
    )
    packet = request.get("packet") or {}
    context = str(packet.get("context") or request["context"])
    yield from _block("Context", from_home(context, home))
    for name in ("state", "attempts", "analysis", "progress", "hint", "last"):
        text = str(packet.get(name) or "")
        if name == "hint" and text in (packet.get("options") or []):
            continue  # it stands there
        yield from _block(name.capitalize(), text if name == "hint" else from_home(text, home))
    history = "\n".join(map(str, packet.get("history") or []))
    yield from _block("Earlier", from_home(history, home))
    yield from _block("You can", "\n".join(map(str, packet.get("options") or [])))
    if raw.get("tool"):
        yield from _block("Call", f"{raw['tool']} ({raw.get('risk', '')})")
        for name, value in dict(raw.get("input") or {}).items():
            yield from _block(f"  {name}", str(value), most=_CALL)
    for place, part in enumerate(raw.get("plan") or [], start=1):
        yield from _block(f"Task {place}", f"{part['title']}\n{part['prompt']}")
    yield from _choice_lines(request)
    yield from _block("Offer", offer_of(request))
    if request.get("suggestion"):
        sure = f"{request['confidence']:.0%} sure"
        yield f'Brain suggestion: "{fit(request["suggestion"], 80)}" ({sure})'
    until = f" ({moment(request['deadline'])})" if request.get("deadline") else ""
    if request["settled_at"] is None:
        yield f"If nobody answers: {request['default']}{until}"
    else:
        by = printable(request["settled_by"])
        yield f"Settled by {by}: {fit(one_line(str(request['answer'])), 100)}"


def _choice_lines(request: Request) -> Iterator[str]:
    """The options of each question, and of a task that stopped."""
    if request["type"] == "error":
        yield from option_lines({"options": request["options"]})
    if request["type"] != "question":
        return
    several = questions_of(request.get("raw") or {}, request["title"])
    for question in several:
        if len(several) > 1:
            yield from _block("Question", from_home(str(question["question"]), home_of(request)))
        yield from option_lines(question)
        if question.get("multiSelect") and len(question.get("options", [])) > 1:
            yield '     Several may be chosen, like this: "1,2"'


def _block(name: str, text: str, *, most: int = 40) -> Iterator[str]:
    """
    `Name: text`, further lines indented; nothing for an empty text.

    Of what is too long head and tail, and between them how much is missing.
    """
    lines = _shortened(printable(text).strip().splitlines(), most)
    head = f"{name}: " if name else "  "
    for place, line in enumerate(lines):
        yield f"{head if place == 0 else '  '}{_ends(line)}"


def _shortened(lines: list[str], most: int = 40) -> list[str]:
    if (more := len(lines) - most) <= 0:
        return lines
    missing = f"… {more} more lines; all of it: pcc pending NUMBER --json …"
    return [*lines[: most // 2], missing, *lines[-(most // 2) :]]


def _ends(line: str) -> str:
    more = len(line) - 2 * _LINE
    return line if more <= 0 else f"{line[:_LINE]} … {more} more characters … {line[-_LINE:]}"
