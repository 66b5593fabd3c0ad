"""One event: was it a correction that should last? Then it is remembered."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from perpetualcc.domain.corrections import Remark, RemarkReading
from perpetualcc.domain.folders import main_tree
from perpetualcc.domain.secrets import redact
from perpetualcc.learning.claim_reader import read_claim
from perpetualcc.learning.corrections import Judgement, Scope, classify, families
from perpetualcc.learning.corrections.text import fold, strip_injected
from perpetualcc.learning.events import CapturedEvent
from perpetualcc.learning.files import read_json
from perpetualcc.learning.library import Library
from perpetualcc.learning.places import Places
from perpetualcc.learning.preferences import (
    Evidence,
    Preference,
    Status,
    contradicts,
    is_same,
    new_id,
)
from perpetualcc.learning.transcript import last_reply

log = logging.getLogger(__name__)

Confirm = Callable[[Remark], RemarkReading | None]
"""A brain's reading of a remark, in less than 30 s; None: nobody could be asked. Raises nothing."""

_SAID_CHARACTERS = 200
_VERB_LAST = frozenset({"ja", "ko", "tr", "hi"})
"""Languages that name what is refused before what is wanted: 「npmじゃなくてpnpm」."""


class EventProcessor:
    """Turns captured events into preferences. Doing one twice is doing it once."""

    def __init__(self, places: Places, library: Library, confirm: Confirm | None = None) -> None:
        self._places = places
        self._library = library
        self._confirm = confirm

    def process(self, event: CapturedEvent) -> str:
        """What became of it, in one line for the log. Raises OSError when a write fails."""
        project = str(main_tree(Path(event.project)))
        self._library.notice(project)
        if event.kind != "prompt":
            return f"Nothing to learn from {event.kind or 'an unnamed event'}"
        if not event.by_user:
            return "Skipped a prompt that no person typed"
        hook = self._hook(event)
        prompt = strip_injected(_writable(str(hook.get("prompt") or ""))).strip()
        if not prompt or prompt.startswith("/"):
            return "Nothing typed"
        assistant = last_reply(Path(str(hook.get("transcript_path") or "")), str(hook["prompt"]))
        judgement = classify(prompt, assistant)
        if not judgement.correction or not judgement.durable or judgement.scope is Scope.ONCE:
            return "No lasting correction"
        remark = Remark(message=prompt, assistant=assistant, rule=judgement.preference)
        reading = self._confirm(remark) if self._confirm else None
        if reading is not None and not reading.is_rule:
            return "No lasting correction, says the brain"
        preference = _preference(event, hook, prompt, assistant, judgement)
        if reading is not None and reading.rule:
            worded = _reworded(preference, reading.rule)
            preference = preference if contradicts(preference, worded) else worded
        found = [preference]
        for one in judgement.further:
            other = _preference(event, hook, prompt, assistant, one)
            if not any(is_same(other, known) or contradicts(other, known) for known in found):
                found.append(other)
        for number, new in enumerate(found):
            counted = f"{event.id}+{number}" if number else event.id  # each counts once
            self._library.remember(project, new, event=counted)
            self._accept_if_sure(project, new)
        return "Extracted preference: " + "; ".join(new.rule for new in found)

    def _hook(self, event: CapturedEvent) -> dict[str, object]:
        if not event.spool:
            return event.hook
        name = Path(event.spool).name
        return read_json(self._places.spool / name) or {}

    def _accept_if_sure(self, project: str, preference: Preference) -> None:
        """The user's standing consent: options.json, `accept_above` and `accept_after`."""
        options = read_json(self._places.options) or {}
        above, after = options.get("accept_above"), options.get("accept_after", 3)
        if not isinstance(above, int | float) or not isinstance(after, int):
            return
        for learned in self._library.all(project):
            known = learned.preference
            if known.status is not Status.CANDIDATE or not learned.is_ours:
                continue
            if known.scope != preference.scope or not is_same(known, preference):
                continue
            if known.confidence >= above and known.seen >= after:
                self._library.accept(learned)
                log.info("Accepted by itself: %s", known.rule)


def _writable(text: str) -> str:
    """Half a character, or a byte that is none, becomes the sign for that (U+FFFD)."""
    return text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")


def _preference(
    event: CapturedEvent, hook: dict[str, object], prompt: str, assistant: str, judged: Judgement
) -> Preference:
    at = event.timestamp if event.timestamp is not None else time.time()
    said = redact(" ".join(prompt.split()))[:_SAID_CHARACTERS]
    evidence = Evidence(
        event=event.id, session=_writable(str(hook.get("session_id") or "")), at=at, said=said
    )
    return Preference(
        id=new_id(judged.preference, str(judged.scope)),
        rule=judged.preference,
        category=str(judged.category),
        scope=str(judged.scope),
        confidence=judged.confidence,
        first_seen=at,
        last_seen=at,
        prefers=_prefers(judged, assistant),
        evidence=(evidence,),
    )


def _reworded(preference: Preference, rule: str) -> Preference:
    """What it prefers was read from the user's words, and stays."""
    return replace(preference, rule=rule, id=new_id(rule, preference.scope))


def _prefers(judged: Judgement, assistant: str) -> dict[str, str]:
    """Which member of which family the rule wants: not the one the assistant used."""
    claim = read_claim(judged.preference)
    theirs = families.named(fold(assistant, accents=False))
    wanted: dict[str, str] = {}
    for family in claim.members:
        named = claim.wanted(family)
        left = [member for member in named if member not in theirs.get(family, set())] or named
        if left:
            wanted[family] = left[-1 if judged.language in _VERB_LAST else 0]
    return wanted


def typed_rule(library: Library, project: str, rule: str, *, by_person: bool) -> Preference:
    """
    A rule that is stated outright. Typed by a person, it is accepted in the same step; through
    an agent's shell it waits for review, whatever the agent read.
    """
    now = time.time()
    text = redact(" ".join(rule.split()))
    scope = "project" if project else "global"
    judged = classify(text)
    preference = Preference(
        id=new_id(text, scope),
        rule=text,
        category=str(judged.category),
        scope=scope,
        confidence=0.99,
        first_seen=now,
        last_seen=now,
        prefers=_prefers(replace(judged, preference=text), ""),
        evidence=(Evidence(event="", session="", at=now, said=text),),
    )
    if not by_person:
        library.put(project, preference)
        return preference
    library.remember(project, preference, event=f"typed-{time.time_ns()}")
    known = (one for one in library.all(project) if one.is_ours and one.preference.scope == scope)
    former = next(one for one in known if is_same(one.preference, preference))
    return library.accept(former, rule=text)
