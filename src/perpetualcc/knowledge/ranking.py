"""
From hits to an order of files: code before its tests and documents, one answer for each file.

Pure functions. The numbers were chosen with `benchmarks/evaluate_knowledge.py` (999 docstring and
82 question queries over fourteen packages) and `benchmarks/evaluate_commits.py` (317 messages).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from perpetualcc.knowledge.ports import Hit
from perpetualcc.knowledge.wishes import Wishes

TEST_FACTOR = 0.6
"""
Tests repeat the words of what they test; less of their score lets the code itself win. From .5 to
.6 every set of commits gains a little (.56 to .57, .83 to .84), and nothing else changes.
"""
DOCUMENT_FACTOR = 0.6
"""So do documents: .66 to .68 for docstrings, .64 to .78 for questions."""
HISTORY_FACTOR = 0.4
"""A change log holds the very words of every commit: .57 to .76 for commits where there is one."""
WANTED_TEST_FACTOR = 1.2
"""For a query that speaks of tests."""
PART_GAIN = 0.6
"""For a file whose path holds the part that a commit message names first."""
FURTHER_SHARE = 0.1
"""What a file's second best chunk adds to the best, the third half of that, and so on."""
FURTHER = 5
HOLDS_ALL = 0.4
"""Score of a chunk that holds each word of the query where BM25 gives less than half of this."""
MEANING_SHARE = 0.4
"""Of the vectors' score in the sum, in a small index; from .3 to .5 the results are the same."""
MEANING_CHUNKS = 2_000
"""
From this many chunks on the share falls, with the root of their number.

The nearest of many chunks is often near by chance, while a rare word tells more where there is more
code. The best share was .4 to .5 below 2,500 chunks, .2 up to 5,000 and .1 to .3 above, for 244
commit messages of 42 Python libraries before the commit and after, and for 155 of C and others.
Against .4 everywhere, and .1 where a message names a part: .674 to .681 and .742 to .758 for the
244, .721 to .732 for the 155, .777 to .776 for 455 docstrings.
"""

_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|testsuites?|regress|specs?|e2e|fixtures|testdata|conftest\.py)(/|$)"
    r"|(^|/)test[-_][^/]*$|_(test|spec)\.\w+$|\.(test|spec)\.\w+$|Tests?\.(java|cs|php)$",
)
_HISTORY = re.compile(
    r"(^|/)([\d_-]*)(change(s|log)|news|history|releases?|release[-_]?notes|authors|contributors|todo)"
    r"([-_.]?v?[\d.x]+)?(\.(md|rst|txt|markdown|adoc|html))?$"
    r"|(^|/)(releasenotes|release[-_]notes|changelogs?|newsfragments)/",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(
    r"\.(md|rst|txt|markdown|mdx|adoc|asciidoc|texi|texinfo|pod|mdoc|man|[1-8])$|(^|/)docs?/"
    r"|(^|/)(?-i:README|INSTALL|COPYING|LICEN[CS]E|NOTICE|HACKING|FAQ)([-_.][\w.-]+)?$",
    re.IGNORECASE,
)


def is_test(path: str) -> bool:
    """Whether a file tests other files, by where it is and what it is called."""
    return _TEST.search(path) is not None


def is_document(path: str) -> bool:
    """Whether a file speaks about the code instead of being it."""
    return _DOCUMENT.search(path) is not None


def is_history(path: str) -> bool:
    """Whether a file tells what was changed when, or by whom."""
    return _HISTORY.search(path) is not None


NO_WISHES = Wishes()


def weight(path: str, wanted: Wishes = NO_WISHES) -> float:
    """What the scores of a file's chunks are multiplied by."""
    factor = 1.0 + PART_GAIN * wanted.share_in(path)
    if is_test(path):
        factor *= WANTED_TEST_FACTOR if wanted.tests else TEST_FACTOR
    if is_history(path):
        return factor * HISTORY_FACTOR
    return factor * (DOCUMENT_FACTOR if is_document(path) and not wanted.documents else 1.0)


def rank_files(hits: Iterable[Hit], wanted: Wishes = NO_WISHES) -> list[Hit]:
    """The best chunk of each file, with a score that the file's further chunks have raised."""
    by_file: dict[str, list[Hit]] = {}
    for hit in hits:
        by_file.setdefault(hit.path, []).append(hit)
    return ordered(
        _of_file(ordered(found), weight(path, wanted)) for path, found in by_file.items()
    )


def _of_file(found: Sequence[Hit], factor: float) -> Hit:
    best = found[0]
    further = sum(hit.score / 2**place for place, hit in enumerate(found[1 : FURTHER + 1]))
    score = factor * (best.score + FURTHER_SHARE * further)
    return Hit(chunk=best.chunk, path=best.path, score=score)


def ordered(hits: Iterable[Hit]) -> list[Hit]:
    """Best first; equal scores by path, then by place, so that two runs agree."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.chunk))


def filled(best: Sequence[Hit], hits: Sequence[Hit], count: int) -> list[Hit]:
    """`count` answers: files first; where there are too few files, further chunks of them."""
    if len(best) >= count:
        return list(best[:count])
    taken = {hit.chunk for hit in best}
    lowest = best[-1].score if best else 0.0
    further = [
        replace(hit, score=min(hit.score * weight(hit.path), lowest))
        for hit in hits
        if hit.chunk not in taken
    ]
    return [*best, *ordered(further)][:count]


def relevance(score: float, terms: int) -> float:
    """
    A BM25 score as a number from 0 to 1 that means the same for long and short queries.

    A chunk in which each word of the query stands once, among neither rare nor common words, is
    at about 0.5; a first result below 0.4 shares a word or two with the query by chance. In an
    index of a few files no word is rare, and what answers may be at 0.2.
    """
    return score / (score + 4.0 * max(terms, 1))


def lifted(hits: Sequence[Hit], share_of: Callable[[Hit], float]) -> list[Hit]:
    """
    In the same order, with scores that say how much of the query a chunk holds where BM25 cannot.

    It gives next to nothing for a word that half of the chunks hold, and in an index of one file
    that may be each word of the query. Where it says enough of the first, it does of the others.
    """
    if not hits or hits[0].score >= HOLDS_ALL / 2 * share_of(hits[0]):
        return list(hits)
    highest = 1.0
    shown = []
    for hit in hits:
        least = HOLDS_ALL * share_of(hit) * min(1.0, weight(hit.path))
        highest = min(highest, max(hit.score, least))
        shown.append(replace(hit, score=highest))
    return shown


def fused(by_words: Sequence[Hit], by_meaning: Sequence[Hit], chunks: int) -> list[Hit]:
    """
    One order of files from two. Both scores run from 0 to 1 for the same reasons, so they add up.

    On 349 docstring queries .857, where reciprocal ranks give .835 and either alone .806; on 439
    commit messages .705, .685 by reciprocal ranks, .692 by words, .605 by vectors. The chunk shown
    is that of the ranking that says more for the file.

    Args:
        chunks: in the whole index.
    """
    meaning = MEANING_SHARE * min(1.0, MEANING_CHUNKS / max(1, chunks)) ** 0.5
    shares: dict[str, list[Hit]] = {}
    for ranking, share in ((by_words, 1.0 - meaning), (by_meaning, meaning)):
        for hit in ranking:
            shares.setdefault(hit.path, []).append(replace(hit, score=hit.score * share))
    return ordered(
        replace(ordered(parts)[0], score=sum(part.score for part in parts))
        for parts in shares.values()
    )
