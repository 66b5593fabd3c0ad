"""
What whole statements say of the options: which they set against each other, which they refuse,
and which stand in the few statements that are nearest to the question.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from perpetualcc.brain.rules.asking import Asked
from perpetualcc.brain.rules.choices import Choice, core
from perpetualcc.brain.rules.terms import read_terms, values
from perpetualcc.domain.questions import Question

if TYPE_CHECKING:
    from perpetualcc.brain.rules.weighing import Landscape

Measures = dict[str, float]
Shares = dict[int, float]
"""For each statement that has any of them, the share of some words."""

_RECOMMENDED = re.compile(
    r"[(\[](?:recommended|default|empfohlen|recomend\w*|recommand\w*|推奨|推荐)", re.IGNORECASE
)
# What counts as all of an option, or of what it refuses.
_WHOLE = 0.9
_NEAREST = (1, 2, 3, 5)
_READ_FOR_DESCRIPTIONS = 4
# A statement's own words beside those of its heading and neighbours.
_OWN = 0.3

AHEAD = (
    *("contrast", "contrast_r", "refused_any", "refused_r"),
    *("named", "named_r", "told_near", "number_r", "whole_name", *(f"near{k}" for k in _NEAREST)),
)
"""Measures that count more when the other options have less of them."""


def weigh_statements(
    question: Question,
    asked: Asked,
    choices: tuple[Choice, ...],
    land: "Landscape",
    relevance: dict[int, tuple[float, float]],
) -> list[Measures]:
    """The measures of each option, in their order."""
    statements = _Statements(question, asked, choices, land, relevance)
    return [
        {
            **statements.of_rivals(at),
            **statements.of_names(at),
            **statements.of_nearest(at),
            **statements.of_label(at),
        }
        for at in range(len(choices))
    ]


class _Statements:
    """What the statements have of the options of one question."""

    def __init__(
        self,
        question: Question,
        asked: Asked,
        choices: tuple[Choice, ...],
        land: "Landscape",
        relevance: dict[int, tuple[float, float]],
    ) -> None:
        self.question, self.asked, self.choices, self.land = question, asked, choices, land
        self.near = {at: line for at, (line, _) in relevance.items()}
        self.order = sorted(relevance, key=lambda at: -(relevance[at][0] + _OWN * relevance[at][1]))
        words = [core(one.own) for one in choices]
        self.chosen = [_shares(one, land, (land.chosen,)) for one in words]
        self.refused = [_shares(one, land, (land.refused,)) for one in words]
        for at, choice in enumerate(choices):
            if choice.refuses:
                # "No locking" is spoken for where locking is refused.
                self.chosen[at], self.refused[at] = self.refused[at], self.chosen[at]
        self.mentioned = [_most(_shares(one, land, (land.chosen, land.open))) for one in words]
        self.whole_names = [
            _most(_shares(one.names, land, (land.chosen,))) > _WHOLE for one in choices
        ]
        self.told = _only_told(question, choices)

    def of_rivals(self, at: int) -> Measures:
        """What is set against what."""
        rivals = [other for other in range(len(self.choices)) if other != at]
        own, no, near = self.chosen[at], self.refused[at], self.near
        against = _highest(self.refused[other] for other in rivals)
        refused = [_most(self.refused[other]) for other in rivals]
        contrast = {
            place: share * against.get(place, 0.0) * (1 - no.get(place, 0.0))
            for place, share in own.items()
        }
        return {
            "contrast": _most(contrast),
            "contrast_r": _most(contrast, near),
            "refused_any": _most(no),
            "refused_r": _most(no, near),
            "word_refused": _one_refused(self.choices[at], self.land, {}),
            "word_refused_r": _one_refused(self.choices[at], self.land, near),
            "rivals_refused": sum(one > _WHOLE for one in refused) / max(len(rivals), 1),
            "rival_kept": min(refused, default=0.0),
            "rival_refused_r": _most(against, near),
            "mentioned": self.mentioned[at],
            "mentions": float(sum(one > _WHOLE for one in self.mentioned)),
            "rival_mentioned": max((self.mentioned[one] for one in rivals), default=0.0),
            "rival_name": float(any(self.whole_names[one] for one in rivals)),
        }

    def of_names(self, at: int) -> Measures:
        """Names and quantities, of the label and of the description."""
        land, near, choice = self.land, self.near, self.choices[at]
        names = frozenset(word for word in self.told[at] if word[0] in "@#")
        named = _shares(names, land, (land.chosen,))
        told = _shares(self.told[at], land, (land.chosen,))
        numbers = _shares(choice.numbers, land, (land.chosen,))
        return {
            "named": _most(named),
            "named_r": _most(named, near),
            "named_no": _most(_shares(names, land, (land.refused,))),
            "told_near": _most(
                told, {place: near[place] for place in self.order[:_READ_FOR_DESCRIPTIONS]}
            ),
            "whole_name": float(self.whole_names[at]),
            "number_r": max(
                (near[one] for one, share in numbers.items() if share > _WHOLE), default=0.0
            ),
            "all_numbers": float(all(one.numbers for one in self.choices)),
        }

    def of_nearest(self, at: int) -> Measures:
        """What the few statements have that are nearest to the question."""
        best = [self.near[place] for place in self.order[:2]] + [0.0, 0.0]
        found = {"best_r": best[0], "next_r": best[0] - best[1]}
        for many in _NEAREST:
            read = self.order[:many]
            for name, shares in (("near", self.chosen[at]), ("near_no", self.refused[at])):
                found[f"{name}{many}"] = max((shares.get(one, 0.0) for one in read), default=0.0)
        return found

    def of_label(self, at: int) -> Measures:
        """What it looks like among the others."""
        label = self.question.options[at].label
        return {
            "recommended": float(bool(_RECOMMENDED.search(label))),
            "position": at / max(len(self.choices) - 1, 1),
            "length": len(label) / 20,
            "statements": len(self.order) / 50,
            "in_question": _part(core(self.choices[at].own), self.asked.stems, self.land),
        }


def _shares(
    words: frozenset[str], land: "Landscape", where: tuple[dict[str, list[int]], ...]
) -> Shares:
    """How much of some words each statement has, rare ones counting more."""
    in_order = sorted(words)
    total = sum(land.worth(word) for word in in_order)
    found: Shares = defaultdict(float)
    for word in in_order:
        statements = {
            land.statements[at]
            for places in where
            for form in land.forms(word)
            for at in places.get(form, ())
        }
        for at in statements:
            found[at] += land.worth(word) / total
    return found


def _highest(shares: Iterable[Shares]) -> Shares:
    found: Shares = {}
    for one in shares:
        for at, share in one.items():
            found[at] = max(found.get(at, 0.0), share)
    return found


def _most(shares: Shares, near: Shares | None = None) -> float:
    """The highest share; with `near`, where the question is spoken of as well."""
    if near is None:
        return max(shares.values(), default=0.0)
    return max((share * near.get(at, 0.0) for at, share in shares.items()), default=0.0)


def _one_refused(choice: Choice, land: "Landscape", near: Shares) -> float:
    """What the most telling word of an option counts that is refused, near the question at best."""
    if choice.refuses:
        return 0.0
    return max(
        (
            land.worth(word) * (near.get(land.statements[at], 0.0) if near else 1.0)
            for word in core(choice.own)
            for form in land.forms(word)
            for at in land.refused.get(form, ())
        ),
        default=0.0,
    )


def _part(words: frozenset[str], said: frozenset[str], land: "Landscape") -> float:
    total = sum(land.worth(word) for word in sorted(words))
    return sum(land.worth(word) for word in sorted(words & said)) / total if total else 0.0


def _only_told(question: Question, choices: tuple[Choice, ...]) -> list[frozenset[str]]:
    """For each option, the words of its description that no other option has."""
    described = [values(read_terms(one.description)) for one in question.options]
    return [
        own
        - choices[at].every
        - frozenset[str]().union(
            *(one.every | described[other] for other, one in enumerate(choices) if other != at)
        )
        for at, own in enumerate(described)
    ]
