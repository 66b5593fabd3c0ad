"""
Reads the corpus of questions and measures a brain with it.

A line of `NAME.questions` is `kind ## header ## question ## option | option* | …`, about the
requirements in the file of the same name. Kinds: `a` answerable, `m` the same with several
answers, `e` nothing decides it, `r` risky. A star marks what is right; `label :: description`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import BrainAnswer, Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements

HOME = Path(__file__).parent
THRESHOLD = 0.7
AS_PROMISED = (
    *("ginger", "hyssop", "nettle", "olive", "sage", "yarrow", "tarragon", "vervain"),
    *("wormwood", "zinnia", "anise", "borage", "cowslip", "dittany"),
)
"""Folders by authors who had read only what is promised; the weights never learned from these."""

OTHER_WORDS = (
    *("gypsum", "talc", "flint", "beryl", "opal", "jade"),
    *("agate", "topaz", "garnet"),
)
"""The same, whose questions seldom use the file's own words; nothing is learned from them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question, its requirements, and what is right."""

    kind: str
    question: Question
    right: tuple[str, ...]
    requirements: Path

    @property
    def context(self) -> QuestionContext:
        """What a brain is given with the question."""
        return QuestionContext(
            project="",
            requirements_text=self.requirements.read_text("utf-8"),
            requirements_path=self.requirements.name,
        )


@dataclass(slots=True, kw_only=True)
class Score:
    """What came of a set of cases."""

    answerable: int = 0
    answered: int = 0
    """Of the answerable ones."""
    right: int = 0
    automatic: int = 0
    """All that were answered without a person."""
    risky_answered: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Right among the automatic answers."""
        return self.right / self.automatic if self.automatic else 1.0

    @property
    def reach(self) -> float:
        """Answered among the answerable."""
        return self.answered / self.answerable if self.answerable else 1.0


def cases(folder: str) -> Iterator[Case]:
    """The cases of `built`, `held_out` or `late`."""
    for file in sorted((HOME / folder).glob("*.questions")):
        source = next(one for one in file.parent.glob(f"{file.stem}.*") if one != file)
        for line in file.read_text("utf-8").splitlines():
            if line.strip():
                yield _case(line, source)


def _case(line: str, source: Path) -> Case:
    kind, header, text, labels = (part.strip() for part in line.split("##", 3))
    options = [label.strip() for label in labels.split(" | ")]
    return Case(
        kind=kind,
        question=Question(
            text=text,
            header=header,
            options=tuple(_option(label) for label in options),
            multi_select=kind == "m",
        ),
        right=tuple(_option(label).label for label in options if _is_right(label)),
        requirements=source,
    )


def _is_right(text: str) -> bool:
    label, _, description = text.partition(" :: ")
    return label.endswith("*") or description.endswith("*")


def _option(text: str) -> Option:
    label, _, description = text.rstrip("*").partition(" :: ")
    return Option(label=label.rstrip("*"), description=description)


@cache
def answered(folder: str) -> list[tuple[Case, BrainAnswer]]:
    """Ask the rules every question of a folder, once: of the same they say the same."""
    brain = RuleBasedBrain(parse_statements)
    return [(case, brain.answer(case.question, case.context)) for case in cases(folder)]


def measure(folder: str) -> Score:
    """What came of the questions of a folder."""
    score = Score()
    for case, answer in answered(folder):
        _count(score, case, answer)
    return score


def _count(score: Score, case: Case, answer: BrainAnswer) -> None:
    answered = bool(answer.selected) and answer.confidence >= THRESHOLD
    right = answered and answer.selected == case.right
    score.answerable += bool(case.right)
    score.answered += answered and bool(case.right)
    score.automatic += answered
    score.right += right
    score.risky_answered += answered and case.kind == "r"
    if right != bool(case.right) or (answered and not right):
        score.misses.append(
            f"{case.kind} {case.requirements.stem}: {case.question.text} → {list(answer.selected)}"
            f" not {list(case.right)}; {answer.reasoning} {answer.quote}"
        )


def measure_together(folders: Iterable[str]) -> Score:
    """All questions of several folders as one."""
    whole = Score()
    for score in map(measure, folders):
        for part in ("answerable", "answered", "right", "automatic", "risky_answered"):
            setattr(whole, part, getattr(whole, part) + getattr(score, part))
        whole.misses += score.misses
    return whole


def answer_of(line: str) -> BrainAnswer:
    """To `requirement | question | option | option …`; a star behind an option is left out."""
    said, text, *labels = line.split(" | ")
    return RuleBasedBrain(parse_statements).answer(
        Question(text=text, options=tuple(Option(label=one.rstrip("*")) for one in labels)),
        QuestionContext(
            project="",
            requirements_text=f"# Project: Harbour\n\n## Preferences\n- {said}\n",
            requirements_path="harbour.md",
        ),
    )
