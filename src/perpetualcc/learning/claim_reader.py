"""
Reads a rule's own words as a claim, in the language they are in.

So a memory that an older version wrote says the same to us as a new one. It looks for the same
grammatical categories as the classifier, and some of its own, in the languages' files.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from perpetualcc.learning.claims import REMOVE, Claim, table
from perpetualcc.learning.corrections import families
from perpetualcc.learning.corrections.concepts import vocabulary
from perpetualcc.learning.corrections.language import detect
from perpetualcc.learning.corrections.lexicon import Lexicon, lexicons
from perpetualcc.learning.corrections.text import fold

_STEM = 6
"""Letters of a word that count: "committed" is "committing"."""
_CHARACTERS = 400
"""Of a rule that are looked at: a file that came with a repository may hold longer ones."""
_NARROWING_WORDS = 3
"""Words behind "in" or "for" that say where a rule holds."""
_EMPTY_MEANINGS = frozenset(
    {"not", "no", "yes", "but", "instead", "want", "should", "you", "me", "we", "use", "add"}
    | {"please", "always", "still", "too", "refer"}
)
"""What a rule says of any matter; what the matter is, say the other words."""
_SIGNS = ("negation", "withheld", "removed", "given")
"""Categories that say whether something is wanted."""
_CODE = re.compile(r"`([^`]*\s[^`]*)`")
_CLAUSE_END = re.compile(r"[,;:!?。，、；！？،؛।\n—–]|\.(?=\s|$)| - ")
_UNSPACED = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3"
_PARTICLES = re.compile("[\u3040-\u309f的了在把和与與是到上中里裡个個]+")
_CYRILLIC_ENDING = re.compile("(?<=...)[аеиіоуыэюяїєйьъвхм]+$")
_TURKISH_DENIAL = re.compile("(?<=...)m[ae](y[iı]n|y[iı]n[iı]z|s[iı]n)?$")
_ENDINGS = re.compile("(?<=.)[지아어해고자워]$")


@lru_cache(maxsize=4096)
def read_claim(rule: str) -> Claim:
    """Pure. Few words tell little of their language: it is the one that knows most of them."""
    rule = _CODE.sub(_as_one_word, rule[:_CHARACTERS])
    return _Reader(_language(rule)).read(rule)


def _as_one_word(code: re.Match[str]) -> str:
    """A command is a thing of its own: "never `npm install -g`" is not "never npm"."""
    return "-".join(re.findall(r"\w+", code.group(1)))


def _language(rule: str) -> Lexicon:
    """Where the words fit several about as well, those count that say whether it is wanted."""
    likely = detect(rule)[0]
    words = [word.strip(".,;:!?") for word in fold(rule, accents=False).split()]
    words = [word for word in words if not families.named(word)]

    def known(lexicon: Lexicon) -> float:
        means = vocabulary(lexicon.code).meanings
        found = sum(bool(means(word)) or word in lexicon.stop for word in words)
        return found + (lexicon is likely) / 2

    def signs(lexicon: Lexicon) -> float:
        folded = lexicon.fold(rule)
        return fits[lexicon] + sum(lexicon.has(category, folded) for category in _SIGNS)

    fits = {one: known(one) for one in lexicons() if one.script == likely.script}
    close = [one for one, fit in fits.items() if fit > max(fits.values()) - 1]
    if len(close) == 1:
        return close[0]
    return max(close, key=lambda one: (signs(one), one.code == "en"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    text: str
    start: int
    end: int
    is_use: bool


class _Reader:
    """Reads rules of one language."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def read(self, rule: str) -> Claim:
        text = self._lexicon.without("affirmed", self._lexicon.fold(rule))
        text = self._lexicon.without("henceforth", text)
        is_sometimes = self._lexicon.has("sometimes", text)
        text = self._lexicon.without("sometimes", text)
        text = self._without_given(text)
        text, unless = self._taken(text, "exempting")
        text, nowhere = self._taken(text, "narrowing", is_denied=True)
        rest, where = self._taken(text, "narrowing")
        if any(True for _ in self._words(rest)):
            text = rest
        else:  # it speaks of the place itself
            where = set()
        signs: dict[str, bool] = {}
        for clause in self._clauses(text):
            for word, wanted in self._signed(clause):
                signs[word] = signs.get(word, True) and wanted
        members = self._members(signs)
        if members:  # to run a tool is to use it; to run tests is not to write them
            signs.pop("run", None)
        plain = {_stem(word): wanted for word, wanted in signs.items() if not word[0].isdigit()}
        words = plain or self._bare(text) or self._bare(self._lexicon.fold(rule))
        return Claim(
            words=words,
            members=members,
            deeds=frozenset(words.keys() - {_stem(name) for of in members.values() for name in of}),
            numbers={word: wanted for word, wanted in signs.items() if word[0].isdigit()},
            order=tuple(words) if self._is_ordered(rule) else (),
            parts=self._parts(rule),
            where=frozenset(_stem(word) for word in where),
            unless=frozenset(_stem(word) for word in unless | nowhere),
            is_sometimes=is_sometimes,
        )

    def _parts(self, rule: str) -> frozenset[frozenset[str]]:
        """Of a rule that shares something out, what goes together; of another, nothing."""
        pieces = _conjunction().split(fold(rule, accents=False))
        parts = [part for piece in pieces if (part := self._matter(piece))]
        is_sharing = len(parts) > 1 and all(len(part) > 1 for part in parts)
        return frozenset(parts if is_sharing else ())

    def _matter(self, text: str) -> frozenset[str]:
        """What a part is about. Beside another, also a word of everyday speech is a name: "Go"."""
        names = (name for members in families.named(text).values() for name in members)
        words = (word.text for word in self._words(text))
        return frozenset(map(_stem, (*words, *names)))

    def _is_ordered(self, rule: str) -> bool:
        """Whether it says what comes first."""
        text, signs = fold(rule, accents=False), _table_words("order")
        if self._lexicon.spaced:
            return not signs.isdisjoint(re.findall(r"\w+", text))
        return any(sign in text for sign in signs)

    def _without_given(self, text: str) -> str:
        """Without the words that say "do" and "have": they are the contrary of `withheld`."""
        denials = self._spans(text, "negation", "withheld", "removed")
        for match in [*self._lexicon.every("given", text)][::-1]:
            if not _overlaps(match.span(), denials):
                text = f"{text[: match.start()]} {text[match.end() :]}"
        return text

    def _spans(self, text: str, *categories: str) -> list[tuple[int, int]]:
        return [match.span() for one in categories for match in self._lexicon.every(one, text)]

    def _bare(self, text: str) -> dict[str, bool]:
        """Of a rule that names nothing, every word."""
        denied = self._lexicon.has("negation", text)
        return dict.fromkeys(_word().findall(self._lexicon.without("negation", text)), not denied)

    def _members(self, signs: dict[str, bool]) -> dict[str, dict[str, bool]]:
        found: dict[str, dict[str, bool]] = {}
        for word, wanted in signs.items():
            if family := family_of(word, self._lexicon):
                found.setdefault(family, {})[word] = wanted
        return found

    def _taken(self, text: str, category: str, *, is_denied: bool = False) -> tuple[str, set[str]]:
        """
        The text without where it holds, or where not; and the words that say so. `is_denied`: only
        what follows a denial at once, "not in tests".
        """
        found: set[str] = set()
        signs = ("withheld", "removed", *(("negation",) if self._lexicon.spaced else ()))
        others = self._spans(text, *signs)
        for match in [*self._lexicon.every(category, text)][::-1]:
            if _overlaps(match.span(), others):
                continue  # "auf keinen Fall", "anything except"
            begin, end = match.span()
            if is_denied:
                before = [
                    at for at, to in self._spans(text, "negation") if text[to:begin].isspace()
                ]
                if not before:
                    continue
                begin = before[-1]
            named = [word.text for word in self._words(text[match.start() : end])]
            if self._lexicon.spaced and not self._lexicon.verb_last:
                named, end = self._following(text, match.end())
            rest = f"{text[:begin]} … {text[end:]}"
            is_chosen = category == "narrowing" and not self._is_place(named, rest)
            limits = {word for word in named if not _is_anywhere(word)}
            if is_chosen or not limits:
                continue
            found |= limits
            text = rest
        return text, found

    def _is_place(self, named: list[str], rest: str) -> bool:
        """A tool is what a rule is about, not where it holds: "in English"; unlike "tabs in Go"."""
        chosen = {family_of(word, self._lexicon) for word in named} - {""}
        if not chosen:
            return True
        others = {family_of(word.text, self._lexicon) for word in self._words(rest)} - {""}
        return chosen == {"languages"} and bool(others - chosen)

    def _following(self, text: str, start: int) -> tuple[list[str], int]:
        """The next few words of the clause, up to what denies or demands."""
        stops = [_CLAUSE_END.search(text, start), self._search("negation", text, start),
                 self._search("always", text, start), self._search("but", text, start),
                 self._search("withheld", text, start)]  # fmt: skip
        limit = min([len(text), *(one.start() for one in stops if one is not None)])
        named: list[str] = []
        end = start
        for word in self._words(text[start:limit]):
            if word.is_use or len(named) == _NARROWING_WORDS:
                break
            if named and family_of(word.text, self._lexicon) not in {"", "languages"}:
                break
            named.append(word.text)
            end = start + word.end
        return named, min(end, limit)

    def _search(self, category: str, text: str, start: int) -> re.Match[str] | None:
        found = self._lexicon.every(category, text)
        return next((match for match in found if match.start() >= start), None)

    def _clauses(self, text: str) -> Iterator[str]:
        start = 0
        cuts = [*_CLAUSE_END.finditer(text), *self._lexicon.every("but", text)]
        whole = self._spans(text, "withheld")
        for match in sorted(cuts, key=re.Match.start):
            if match.start() >= start and not _overlaps(match.span(), whole):
                yield text[start : match.start()]
                start = match.end()
        yield text[start:]

    def _signed(self, clause: str) -> Iterator[tuple[str, bool]]:
        """The words of a clause that say what it is about, each with whether it is wanted."""
        words = [*self._words(self._without_denials(clause), keep_use=True)]
        withheld = self._spans(clause, "withheld")
        removed = [span for span in self._spans(clause, "removed")
                   if not _overlaps(span, withheld)]  # fmt: skip
        denials = [span for span in self._spans(clause, "negation", "prohibit")
                   if not _overlaps(span, withheld)]  # fmt: skip
        said = {*self._spans(clause, "negation")}
        telling = [word for word in words if not word.is_use
                   and (word.start, word.end) not in said
                   and not _overlaps((word.start, word.start + 1), withheld + removed)]  # fmt: skip
        refused = self._refused(clause, words, telling, denials)
        for start, end in withheld + removed:
            refused ^= self._meant(words, telling, start, end)
        refused |= self._replaced(clause, telling)
        if removed:  # "never remove tests" is not "write tests"
            yield REMOVE, not denials
        for word in telling:
            yield word.text, word.start not in refused

    def _without_denials(self, clause: str) -> str:
        """Where words are not spaced, a denial would look like a part of what is denied."""
        signs = ("negation", "withheld", "removed")
        for start, end in [] if self._lexicon.spaced else self._spans(clause, *signs):
            clause = f"{clause[:start]}{' ' * (end - start)}{clause[end:]}"
        return clause

    def _refused(
        self, clause: str, words: list[_Word], telling: list[_Word], denials: list[tuple[int, int]]
    ) -> set[int]:
        """Where the words stand that are denied."""
        if not denials:
            return set()
        if not self._is_two_sided(clause, words, telling, min(denials)[0]):
            return {word.start for word in telling}
        refused: set[int] = set()
        for start, end in denials:
            inside = {word.start for word in telling if start <= word.start < end}
            refused |= (self._meant(words, telling, start, end, inside)) | inside
        return refused

    def _meant(
        self, words: list[_Word], telling: list[_Word], start: int, end: int,
        inside: frozenset[int] | set[int] = frozenset(),
    ) -> set[int]:  # fmt: skip
        """Where the words stand that a denial is about: behind it, or in front of it."""
        before = {word.start for word in telling if word.start < start}
        after = {word.start for word in telling if end <= word.start < _next_use(words, end)}
        if self._lexicon.verb_last:
            return before or after
        return after or set(inside) or before

    def _is_two_sided(
        self, clause: str, words: list[_Word], telling: list[_Word], denial: int
    ) -> bool:
        """Whether a clause that denies also says what is wanted: "pnpm, not npm"."""
        named = self._members(dict.fromkeys((word.text for word in telling), True))
        if any(len(members) > 1 for members in named.values()):
            return True
        if sum(word.is_use for word in words if word.start >= denial) > 1:
            return True
        return any(
            match.start() <= denial < match.end() and match.start() > 0
            for match in self._lexicon.every("contrast", clause)
        )

    def _replaced(self, clause: str, telling: list[_Word]) -> set[int]:
        """What something else is wanted instead of."""
        refused = set()
        for match in self._lexicon.every("instead", clause):
            before = [word.start for word in telling if word.start < match.start()][-1:]
            after = [word.start for word in telling if word.start >= match.end()][:1]
            refused |= set((before or after) if self._lexicon.verb_last else after)
        for match in self._lexicon.every("outranked", clause):
            names = [word for word in telling if family_of(word.text, self._lexicon)]
            before = [word.start for word in names if word.start < match.start()]
            after = [word.start for word in names if word.start >= match.end()]
            if before and after:
                refused.add(before[-1] if self._lexicon.verb_last else after[0])
        return refused

    def _words(self, text: str, *, keep_use: bool = False) -> Iterator[_Word]:
        """What is named, in one word for all languages where we know one."""
        for match in _word().finditer(fold(text, accents=False)):
            for word in self._pieces(match.group().rstrip("./'-")):
                meanings = self._meanings(word)
                is_name = word[0].isdigit() or word in _translated().values()
                is_name = is_name or family_of(word, self._lexicon) != ""
                is_empty = bool(meanings & _EMPTY_MEANINGS) or word in self._lexicon.stop
                is_empty = is_empty or word in _table_words("empty")
                is_use = "use" in meanings and not is_name
                if is_name or not is_empty or (is_use and keep_use):
                    yield _Word(text=word, start=match.start(), end=match.end(), is_use=is_use)

    def _meanings(self, word: str) -> set[str]:
        means = vocabulary(self._lexicon.code).meanings
        forms = [word] if len(word) > 1 else []
        if self._lexicon.code == "en" and word.endswith("ing"):
            forms += [word[:-3], f"{word[:-3]}e"]
        return {meaning for form in forms for meaning in means(form)}

    def _pieces(self, word: str) -> list[str]:
        """A word as it is compared; of a run without spaces, pairs of what is no particle."""
        if _translation(word):
            return [_translation(word)]
        if not re.match(f"[{_UNSPACED}]", word):
            if self._lexicon.code == "tr":
                word = _TURKISH_DENIAL.sub("", word)
            if "'" in word and word not in self._lexicon.stop:
                word = max(word.split("'"), key=len)
            return [_translation(word) or word] if len(word) > 1 or word.isdigit() else []
        runs = vocabulary(self._lexicon.code).runs
        if runs is not None:
            word = runs.sub(self._emptied, word)
        parts = [part for part in _PARTICLES.sub(" ", word).split() if part]
        if self._lexicon.code == "ko":
            pieces = [_ENDINGS.sub("", part[:2]) for part in parts if len(part) > 1]
            return [piece for piece in pieces if len(piece) > 1]
        if self._lexicon.code == "ja":  # "書" of "書かない"
            parts = [part for part in parts if part not in _empty_beginnings()]
        return [part[i : i + 2] for part in parts for i in range(max(1, len(part) - 1))]

    def _emptied(self, match: re.Match[str]) -> str:
        known = vocabulary(self._lexicon.code).words[match.group()]
        return " " if _EMPTY_MEANINGS & {*known} else match.group()


@cache
def _table_words(name: str) -> frozenset[str]:
    return frozenset(fold(table()[name], accents=False).split())


@cache
def _conjunction() -> re.Pattern[str]:
    """What stands between two things that a rule asks for."""
    words = "|".join(map(re.escape, sorted(_table_words("conjunctions"))))
    return re.compile(rf"{_CLAUSE_END.pattern}|(?<!\w)(?:{words})(?!\w)")


@cache
def _empty_beginnings() -> frozenset[str]:
    """The signs with which Japanese verbs begin that say nothing of the matter."""
    words = vocabulary("ja").words.items()
    return frozenset(word[0] for word, meanings in words if _EMPTY_MEANINGS & {*meanings})


def _overlaps(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def family_of(word: str, lexicon: Lexicon) -> str:
    """The family a word names a member of; words of everyday speech name none."""
    if word in lexicon.stop or word in table()["everyday"].split():
        return ""
    return next(iter(families.named(word)), "")


def _next_use(words: list[_Word], start: int) -> int:
    """Where another "use" follows what was denied: from there on it is wanted."""
    denied = False
    for word in words:
        if word.start >= start and word.is_use and denied:
            return word.start
        denied = denied or (word.start >= start and not word.is_use)
    return 1 << 30


def _stem(word: str) -> str:
    if word in _translated().values() or families.named(word) or not word.isalpha():
        return word
    if word[0] >= "\u0400" and word[0] <= "\u04ff" and len(word) > 3:
        word = _CYRILLIC_ENDING.sub("", word)
    return word[:_STEM].rstrip("s") if len(word) > 3 else word  # a short word


@cache
def _translated() -> dict[str, str]:
    """What a word, or with `*` its beginning, is called in the first language."""
    rows = {**table()["same"], **table()["numbers"]}
    return {fold(word, accents=False): name for name, row in rows.items() for word in row.split()}


def _translation(word: str) -> str:
    known = _translated()
    beginnings = (f"{word[:size]}*" for size in range(len(word), 1, -1))
    return known.get(word) or next((known[one] for one in beginnings if one in known), "")


@cache
def _word() -> re.Pattern[str]:
    """A number, a known word of a script without spaces, a run of such a script, or a word."""
    unspaced = [one for one in _translated() if re.match(f"[{_UNSPACED}]", one)]
    known = "|".join(sorted(map(re.escape, unspaced), key=len, reverse=True))
    run = rf"(?:(?!{known})[{_UNSPACED}])+"
    spaced = (
        rf"(?:(?![{_UNSPACED}])[\w\u0900-\u0963])(?:(?![{_UNSPACED}])[\w\u0900-\u0963.#/*+'-])*"
    )
    return re.compile(rf"\d+(?:[.,]\d+)*|{known}|{run}|{spaced}")


@cache
def _is_anywhere(word: str) -> bool:
    names = {fold(one, accents=False) for one in table()["anywhere"].split()}
    return word in names or any(f"{word[:size]}*" in names for size in range(2, len(word) + 1))
