"""Preferences: rules that a person's corrections gave, and what becomes of them over time."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

EVIDENCE_KEPT = 10
_REPETITION = 0.5
"""How far a repetition closes the distance to certainty."""
_CONTRADICTION = 0.5
"""What is left of the confidence in a rule that was contradicted."""
_LATEST = 253_402_214_400.0
"""The last day of the year 9999: what is later has no date."""
_MOST_SEEN = 1_000_000
_ID = re.compile("[0-9a-f]{8}")


class Status(StrEnum):
    """Where a preference is between a remark and a rule."""

    CANDIDATE = "candidate"
    """Waits for review."""
    ACCEPTED = "accepted"
    """Reaches new sessions."""
    REJECTED = "rejected"
    """A person said no; repetition does not bring it back."""
    SUPERSEDED = "superseded"
    """A newer rule of its scope says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One time it was said."""

    event: str
    session: str
    at: float
    said: str
    """The user's words, shortened and redacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """One rule, with where it came from and how far it is trusted."""

    id: str
    rule: str
    category: str
    scope: str
    """`project` or `global`."""
    status: Status = Status.CANDIDATE
    confidence: float
    seen: int = 1
    first_seen: float
    last_seen: float
    prefers: dict[str, str] = field(default_factory=dict)
    """Tool family → the member wanted. One that the rule refuses is not believed (`Claim`)."""
    evidence: tuple[Evidence, ...] = ()
    seal: str = ""
    """Proof that a person of this account accepted it; a repository cannot bring its own."""

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "rule": self.rule,
            "category": self.category,
            "scope": self.scope,
            "status": str(self.status),
            "confidence": self.confidence,
            "seen": self.seen,
            "first_seen": self.first_seen,
            "last_seen": self.last_seen,
            "prefers": dict(sorted(self.prefers.items())),
            "origin": "user",
            "evidence": [
                {"event": one.event, "session": one.session, "at": one.at, "said": one.said}
                for one in self.evidence
            ],
            "seal": self.seal,
        }


def from_json(data: dict[str, Any]) -> Preference:
    """
    The opposite of `as_json`.

    Raises:
        KeyError, TypeError, ValueError: it is not a preference.
    """
    rule = str(data["rule"])
    prefers = {str(key): str(value) for key, value in dict(data.get("prefers", {})).items()}
    scope = "global" if data["scope"] == "global" else "project"
    identity = str(data["id"])
    return Preference(
        id=identity if _ID.fullmatch(identity) else new_id(rule, scope),
        rule=rule,
        category=str(data["category"]),
        scope=scope,
        status=Status(data["status"]),
        confidence=_within(data["confidence"], 1.0),
        seen=int(_within(data["seen"], _MOST_SEEN)),
        first_seen=_within(data["first_seen"], _LATEST),
        last_seen=_within(data["last_seen"], _LATEST),
        prefers=prefers,
        evidence=tuple(
            Evidence(
                event=str(one["event"]),
                session=str(one["session"]),
                at=_within(one["at"], _LATEST),
                said=str(one["said"]),
            )
            for one in data.get("evidence", [])
        ),
        seal=str(data.get("seal", "")),
    )


def _within(value: Any, high: float) -> float:
    """A number of a file that anybody may have written, between 0 and what can be shown."""
    number = float(value)
    return min(max(number, 0.0), high) if number == number else 0.0  # noqa: PLR0124  # no NaN


def says_something(rule: str) -> bool:
    """Whether there is a letter or a digit in it, of any script."""
    return any(character.isalnum() for character in rule)


def new_id(rule: str, scope: str) -> str:
    """Eight characters that the same rule always gets."""
    return _short_hash(f"{scope}\0{' '.join(sorted(_words(rule)))}")


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def merge(known: tuple[Preference, ...], new: Preference) -> tuple[Preference, ...]:
    """
    What is known after one more remark: the same again is surer, the contrary weakens.

    Pure. The newest of two contrary rules wins when it is accepted (`accept`).
    """
    result, met = [], False
    for old in known:
        if not met and old.scope == new.scope and is_same(old, new):
            result.append(_again(old, new))
            met = True
        elif contradicts(old, new) and old.scope == new.scope:
            result.append(replace(old, confidence=round(old.confidence * _CONTRADICTION, 2)))
        else:
            result.append(old)
    return tuple(result) if met else (*result, _named_apart(new, known))


def join(known: tuple[Preference, ...], other: Preference) -> tuple[Preference, ...]:
    """
    What is known, and what an export says about the same: nothing is counted twice.

    Pure, and idempotent: of numbers the greater counts, of the evidence the newest, and what a
    person decided here stays decided.
    """
    former = next(
        (one for one in known if one.id == other.id and not contradicts(one, other)), None
    )
    former = former or next(
        (one for one in known if one.scope == other.scope and is_same(one, other)), None
    )
    if former is None:
        return (*known, _named_apart(other, known))
    joined = replace(
        former,
        confidence=max(former.confidence, other.confidence),
        seen=max(former.seen, other.seen),
        first_seen=min(former.first_seen, other.first_seen),
        last_seen=max(former.last_seen, other.last_seen),
        evidence=_newest({*former.evidence, *other.evidence}),
    )
    return tuple(joined if one is former else one for one in known)


def _newest(evidence: set[Evidence]) -> tuple[Evidence, ...]:
    ordered = sorted(evidence, key=lambda one: (one.at, one.event, one.said))
    return tuple(ordered[-EVIDENCE_KEPT:])


def _named_apart(new: Preference, known: tuple[Preference, ...]) -> Preference:
    """Two contrary rules may have the same words: then the newer one's id has their order, too."""
    if all(one.id != new.id for one in known):
        return new
    return replace(new, id=_short_hash(f"{new.scope}\0\0{new.rule}"))


def named_apart(preferences: Iterable[Preference]) -> tuple[Preference, ...]:
    """The same, each with an id of its own: an older version gave two of the same words one."""
    apart: dict[str, Preference] = {}
    for one in preferences:
        named = _named_apart(one, (apart[one.id],)) if one.id in apart else one
        apart.setdefault(named.id, named)
    return tuple(apart.values())


def accept(known: tuple[Preference, ...], accepted: Preference) -> tuple[Preference, ...]:
    """Put an accepted rule in the place of its former self; contrary ones of its scope yield."""
    return tuple(
        accepted
        if old.id == accepted.id
        else replace(old, status=Status.SUPERSEDED)
        if old.status is Status.ACCEPTED
        and old.scope == accepted.scope
        and contradicts(old, accepted)
        else old
        for old in known
    )


def is_same(one: Preference, other: Preference) -> bool:
    """Whether two rules ask for the same thing in other words."""
    found = _relation(one, other)
    return found == "SAME" or (one.rule == other.rule and found != "CONTRARY")


def contradicts(one: Preference, other: Preference) -> bool:
    """Whether two rules cannot both be followed."""
    return _relation(one, other) == "CONTRARY"


def _relation(one: Preference, other: Preference) -> str:
    """How they stand to each other: by what they say, and what was known when it was said."""
    # A list of them needs no language.
    from perpetualcc.learning.claim_reader import read_claim  # noqa: PLC0415
    from perpetualcc.learning.claims import relation  # noqa: PLC0415

    claims = (read_claim(each.rule).preferring(each.prefers) for each in (one, other))
    return relation(*claims).name


def _again(old: Preference, new: Preference) -> Preference:
    surer = old.confidence + (1 - old.confidence) * _REPETITION * new.confidence
    return replace(
        old,
        confidence=round(min(0.99, surer), 2),
        seen=old.seen + new.seen,
        last_seen=max(old.last_seen, new.last_seen),
        evidence=(*old.evidence, *new.evidence)[-EVIDENCE_KEPT:],
        status=Status.CANDIDATE if old.status is Status.SUPERSEDED else old.status,
    )


def _words(rule: str) -> set[str]:
    """Words, and pairs of characters where words are not spaced."""
    words = set(re.findall(r"[\w.-]+", rule.lower()))
    pairs = {
        run[i : i + 2]
        for run in re.findall(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]{2,}", rule)
        for i in range(len(run) - 1)
    }
    return words if not pairs else pairs | {word for word in words if word.isascii()}
