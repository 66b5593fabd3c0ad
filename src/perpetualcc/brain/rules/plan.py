"""
The tasks of the requirements as rules see them: which is meant, which are done, which come next.

A task is next when nothing that it waits for is open. What a question tells to be finished counts
as done, and so does what the file ticks off.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from perpetualcc.brain.rules.nearness import has
from perpetualcc.brain.rules.tables import word_set
from perpetualcc.brain.rules.terms import read_terms, values
from perpetualcc.brain.rules.text import fold, stem
from perpetualcc.brain.rules.vocabulary import patterns
from perpetualcc.domain.requirements import Requirements

_NUMBERED = re.compile(r"^\s{0,3}\d{1,2}[.)]\s+(?P<text>\S.*)$")
_IN_ORDER = re.compile(r"\bin (?:this|that|the following|the given) order\b|\border of work\b")
_DONE = re.compile(
    r"\((?:done|finished|complete|erledigt|fertig|hecho|fait)\)|✓|✔|✅", re.IGNORECASE
)
_FINISHED_WORDS = (
    "done finished complete completed ready passing pass passed green implemented works work "
    "merged written created test tests tested clean reviewed task item story step part next "
    "nachste nachsten aufgabe aufgaben schritt teil siguiente tarea paso parte suivante tache "
    "etape partie prossimo prossima compito attivita passo proximo proxima tarefa volgende taak "
    "stap deel"
)
# Of what is called so much must be in a task, and of a task in what is told to be done.
_SAME = 0.6
_TOLD = 0.4
# Of the subject of a sentence so much names a task: "the data model and its migration".
_NAMED = 0.5
_JOINED = re.compile(r"\s*(?:,|&|\b(?:and|und|et|y|e|en|och|og|и)\b)\s*")
_PREDICATE = re.compile(
    r"\b(?:is|are|was|were|has|have|passe?s?|works?|compiles?|ist|sind|wurden?|steht|est|sont|esta|"
    r"estan|son|sono|zijn|ficou|foram)\b|:"
)

_JOINING = frozenset(
    {
        "task",
        "tasks",
        "step",
        "and",
        "both",
        "the",
        "aufgabe",
        "und",
        "beide",
        "tarea",
        "y",
        "tache",
        "et",
        "compito",
        "tarefa",
        "e",
        "taak",
        "en",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A task of the requirements."""

    id: str
    words: frozenset[str]
    """Stems that say something."""
    line: int
    quote: str
    priority: int = 0
    needs: frozenset[str] = frozenset()
    """Ids of the steps that come first."""
    done: bool = False


def read_plan(requirements: Requirements, text: str) -> tuple[Step, ...]:
    """The tasks in their order; a numbered list "in this order" is taken for tasks too."""
    if requirements.tasks:
        return tuple(
            Step(
                id=task.id,
                # A number of a task is no word of it: see `_is_only`.
                words=_words(task.description)
                | (frozenset() if _has_digit(task.id) else _words(task.id)),
                line=task.line,
                quote=task.description.splitlines()[0],
                priority=task.priority,
                needs=frozenset(task.depends_on),
                done=task.done,
            )
            for task in requirements.tasks
        )
    return tuple(_in_order(text))


def _in_order(text: str) -> Iterable[Step]:
    """Numbered lines below a line that says "in this order"; each waits for the one before."""
    before: frozenset[str] = frozenset()
    opened = False
    for number, line in enumerate(text.splitlines(), start=1):
        found = _NUMBERED.match(line)
        if _IN_ORDER.search(fold(line)):
            opened, before = True, frozenset()
        elif found and opened:
            done = bool(_DONE.search(found["text"]))
            words = _words(_DONE.sub("", found["text"]))
            yield Step(
                id=str(number),
                words=words,
                line=number,
                quote=line.strip(),
                needs=before,
                done=done,
            )
            before = frozenset({str(number)})
        elif line.strip():
            opened = False


def _words(text: str) -> frozenset[str]:
    terms = values(read_terms(text)) - _says_little()
    return frozenset(term for term in terms if term[0] != "#" and len(term) > 1)


@cache
def _says_little() -> frozenset[str]:
    return word_set("asking") | frozenset(map(stem, _FINISHED_WORDS.split()))


def _called_by_id(text: str, plan: tuple[Step, ...]) -> list[Step]:
    """The tasks whose ids stand there, as far as these are more than numbers."""
    return [
        step
        for step in plan
        if not step.id.isdecimal()
        and re.search(rf"(?<!\w){re.escape(fold(step.id))}(?!\w)", fold(text))
    ]


def step_called(words: str, plan: tuple[Step, ...]) -> Step | None:
    """The one task that is called so; None when none is, or several are as near."""
    called = _words(words)
    if not called:
        return None
    named = _called_by_id(words, plan)
    if len(named) == 1:
        return named[0]
    near = [(sum(has(step.words, word) for word in called) / len(called), step) for step in plan]
    best = max((share for share, _ in near), default=0.0)
    fitting = [step for share, step in near if share == best]
    if best < _SAME or not fitting:
        return None
    # "Hover provider" is all of one task and a part of another.
    fullest = [step for step in fitting if all(has(called, word) for word in step.words)]
    fitting = fullest if len(fullest) == 1 else fitting
    return fitting[0] if len(fitting) == 1 else None


# Characters of Chinese, Japanese and Korean, where a name is told by its run of characters.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FRAGMENTS = re.compile(r"[\uff0c,、。.;；:!?？]|(?<=[가-힣])(?:과|와|및)\s")  # noqa: RUF001
# So short a run may be a part of anything.
_SHORTEST_RUN = 2


def is_unspaced(text: str) -> bool:
    """Whether words cannot be told by blanks there."""
    return bool(_UNSPACED.search(text))


def step_by_run(words: str, plan: tuple[Step, ...]) -> Step | None:
    """
    The one task in whose name all that is said stands, in a script without blanks.

    None when something else is said besides, or when it stands in several.
    """
    name = name_in(words)
    if len(name) < _SHORTEST_RUN:
        return None
    fitting = [step for step in plan if name in name_in(step.quote)]
    same = [step for step in fitting if name_in(step.quote) == name]
    fitting = same or fitting
    return fitting[0] if len(fitting) == 1 else None


def name_in(text: str) -> str:
    """What a text in a script without blanks says besides that something is gone on with."""
    kept = patterns("consent", "around_a_task").sub("", fold(text))
    return "".join(re.findall(r"[^\W_]", kept))


def with_told(plan: tuple[Step, ...], told: Iterable[str]) -> tuple[Step, ...]:
    """The plan with what the sentences tell to be finished done, and all that it waited for."""
    finished = {
        step.id
        for sentence in told
        if patterns("consent", "finished").search(sentence) and not doubts(sentence, plan)
        for step in _told_of(sentence, plan)
    }
    needs = {step.id: step.needs for step in plan}
    waiting = list(finished)
    while waiting:
        for one in needs.get(waiting.pop(), frozenset()) - finished:
            finished.add(one)
            waiting.append(one)
    return tuple(replace(step, done=step.done or step.id in finished) for step in plan)


def doubts(sentence: str, plan: tuple[Step, ...]) -> bool:
    """Whether what is told is more than that something is finished, a task's own words excepted."""
    known = frozenset[str]().union(*(step.words for step in plan))
    found = patterns("consent", "doubts_what_is_told").finditer(sentence)
    return any(not has(known, stem(one[0])) for one in found)


def _told_of(sentence: str, plan: tuple[Step, ...]) -> Iterable[Step]:
    """What a sentence tells of: what it has most of, and what its subject names."""
    if is_unspaced(sentence):
        parts = (step_by_run(part, plan) for part in _FRAGMENTS.split(sentence))
        yield from (step for step in parts if step is not None)
    said = _words(sentence)
    for step in plan:
        shared = sum(has(said, word) for word in step.words)
        if shared and shared / len(step.words) >= _TOLD:
            yield step
    named = _PREDICATE.split(sentence, maxsplit=1)[0]
    numbered = [step for step in _called_by_id(named, plan) if _has_digit(step.id)]
    if _is_only(named, numbered):
        yield from numbered
    # "Ingest and storage are finished" is told of two, where each is one.
    joined = [one for one in _JOINED.split(named) if one.strip()]
    both = [_step_named(one, plan, wanted=1.0) for one in joined]
    told = both if len(both) > 1 and all(both) else [_step_named(named, plan, wanted=_NAMED)]
    yield from (step for step in told if step is not None)


def _step_named(text: str, plan: tuple[Step, ...], *, wanted: float) -> Step | None:
    """The one task that has most of the words, and of these so much."""
    subject, called = _words(text), _called_by_id(text, plan)
    near = [(sum(has(step.words, word) for word in subject), step) for step in plan]
    most = max((count for count, _ in near), default=0)
    fitting = [step for count, step in near if count == most]
    fitting = [step for step in fitting if step in called] or fitting
    is_one = len(fitting) == 1 and most and most / len(subject) >= wanted
    return fitting[0] if is_one else None


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _is_only(subject: str, called: list[Step]) -> bool:
    """ "T1 is done", and not its design or its tests."""
    ids = {fold(step.id) for step in called}
    return all(one in ids or one in _JOINING for one in re.findall(r"[\w-]+", fold(subject)))


def next_of(offered: Iterable[Step], plan: tuple[Step, ...]) -> Step | None:
    """The most urgent of the tasks offered that can be begun; None when two are as urgent."""
    open_ones = {step.id for step in plan if not step.done}
    ready = [step for step in offered if step.id in open_ones and not step.needs & open_ones]
    most = max((step.priority for step in ready), default=0)
    urgent = [step for step in ready if step.priority == most]
    return urgent[0] if len(urgent) == 1 else None
