"""Should a correction last, and where does it hold?"""

import re
from dataclasses import dataclass

from perpetualcc.learning.corrections.features import Sentence
from perpetualcc.learning.corrections.judgement import Scope
from perpetualcc.learning.corrections.lexicon import Lexicon

THRESHOLD = 1.0

WEIGHTS: dict[str, float] = {
    "henceforth": 2.5,  # from now on, next time, remember
    "always": 1.5,  # always, never, every time
    "norm": 1.5,  # we use, our convention, I prefer
    "everywhere": 1.5,
    "project": 1.0,
    "told": 1.0,  # said before: it did not stick
    "prohibit": 1.0,  # "don't add comments": what one does not want once, one seldom wants later
    "demand": 0.5,
    "project_rule": 1.0,
    "convention": 1.0,
    "tools": 0.5,
    "tool": 0.5,
    "substitution": 0.5,
    "excess": 0.0,
    # It is about the thing at hand.
    "once": -1.5,
    "specific": -0.5,  # names a file, a function, a number
    "undo": -1.0,
    "repair": -0.5,
    "wrong": -0.5,
}
_PROJECT = re.compile(
    "pro[jy]e|progett|repo|code ?bas|depo|kod taban|base de co|проек|проєк|репоз|репе|код"
    "|dự án|项目|專案|仓库|倉庫|代码库|程式庫|工程|プロジェクト|リポ|コードベース"
    "|프로젝트|저장소|레포|코드베이스|مشروع|مستودع|ريبو|प्रोजेक्ट|रेपो|कोडबेस"
)
"""What a project is called, in folded text."""
_TONGUE = re.compile(
    "englis|ingl[eé]|angl[ai]|engels|angiels|ingiliz|англ|german|deutsch|alleman|fran[cç]|french"
    "|span|espa[nñ]|italian|portug|nederlands|pols?k|рус|укра|turkce|türkçe|tiếng|عرب|[اإ]نج?ليز"
    "|हिं|हिन|अंग्र|इंग्लिश|中文|英文|英[语語]|日本語|한국어|한글|영어"
)
_WRITTEN = re.compile(
    "comments|code comment|commenta|comm?enti|comentari|kommentar|komentar|комм?ент|yorum|chú thích"
    "|chu thich|تعليق|टिप्पण|कमेंट|注[释釋解]|コメント|주석|commit|コミット|커밋|提交|readme"
    "|docstring|changelog"
)
"""What of a project is written in a language, whatever the assistant speaks."""
_CLAUSE = re.compile("[,;.:!?，、；。！？\\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """What was found and what the rules make of it."""

    found: frozenset[str]
    score: float
    """Above 0 the rules call it lasting; the model has the last word."""
    scope: Scope
    is_exception: bool
    """The user says that it is for this time: no sum of evidence makes a rule of that."""


def judge(lexicon: Lexicon, best: Sentence, sentences: tuple[Sentence, ...]) -> Lasting:
    """Weigh what says "for good" against what says "this one"."""
    scopes = ("henceforth", "always", "norm", "everywhere", "project", "once")
    found = {
        name for name in scopes for sentence in sentences if _counts(name, sentence, best, lexicon)
    }
    found |= best.features & WEIGHTS.keys() - set(scopes)
    if "henceforth" in found and "once" in found:
        found.discard("once")
    score = sum(WEIGHTS.get(name, 0.0) for name in found) - THRESHOLD
    return Lasting(
        found=frozenset(found),
        score=score,
        scope=_scope(lexicon, best, sentences),
        is_exception=lexicon.has("exception", best.folded) and "henceforth" not in found,
    )


def _counts(name: str, sentence: Sentence, best: Sentence, lexicon: Lexicon) -> bool:
    if sentence is not best and sentence.features & {
        "reported",
        "self",
        "product",
        "question_mark",
    }:
        return False
    return lexicon.has(name, sentence.folded)


def _scope(lexicon: Lexicon, best: Sentence, sentences: tuple[Sentence, ...]) -> Scope:
    """
    Global is what is said of all projects, and what is about any assistant: its language, tone,
    asking first. "Everywhere" alone is all over this project, a named project is narrower still.
    """
    counting = [one for one in sentences if _counts("everywhere", one, best, lexicon)]
    bare = [lexicon.without("all_over", one.folded) for one in counting]
    wide = any(_reaches_beyond("everywhere", lexicon, text) for text in bare)
    if not wide and not _reaches_beyond("personal", lexicon, best.folded):
        return Scope.PROJECT
    is_here = _names_projects("project", lexicon, sentences)
    is_wide = any(_names_projects(one, lexicon, sentences) for one in ("everywhere", "personal"))
    return Scope.PROJECT if is_here and not is_wide else Scope.GLOBAL


def _reaches_beyond(category: str, lexicon: Lexicon, folded: str) -> bool:
    """In which language comments are written is the project's; in which one is spoken is not."""
    return any(
        not (_TONGUE.search(found.group()) and _WRITTEN.search(_clause(folded, found)))
        for found in lexicon.every(category, folded)
    )


def is_of_writing(folded: str) -> bool:
    """Whether it says in which language something of the project is written."""
    return _TONGUE.search(folded) is not None and _WRITTEN.search(folded) is not None


def _clause(folded: str, found: re.Match[str]) -> str:
    before = _CLAUSE.split(folded[: found.start()])[-1]
    return before + found.group() + _CLAUSE.split(folded[found.end() :])[0]


def _names_projects(category: str, lexicon: Lexicon, sentences: tuple[Sentence, ...]) -> bool:
    found = (match for one in sentences for match in lexicon.every(category, one.folded))
    return any(_PROJECT.search(match.group()) for match in found)
