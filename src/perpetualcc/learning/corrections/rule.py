"""One short rule out of the user's own words."""

import re

from perpetualcc.domain.secrets import redact
from perpetualcc.learning.corrections import families
from perpetualcc.learning.corrections.features import Sentence
from perpetualcc.learning.corrections.lexicon import Lexicon, english
from perpetualcc.learning.corrections.text import Typed, is_headline, restore_code

MAX_CHARACTERS = 160

_AROUND = r"\s,;:…–—\-，、،؛\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d"
_FILLER = re.compile(rf"^[{_AROUND}.!?。！？।]+|[{_AROUND}]+$")
_SEPARATOR = re.compile(r"\s*[,.!;:–—，。！、：…،؛।]|\s*-+\s")
_ENDS_APART = re.compile(r"[,;:.!–—，。！、：…،؛।-]\s*$")
_NAME = re.compile(r"\S*[\d_./()@#:\\]|\S+[A-Z]|\S*[\u2e80-\uffff]")
"""A word whose letters are as they must be: `snake_case`, `iOS`, `src/`, `main` before a kana."""
_TELLS = frozenset({"direct", "prohibit", "contrast", "norm", "always"})
_FRAGMENT = 4
"""Words of what is half a sentence."""
_MATTER = re.compile(r"[^\W\d_]{3,}|[\u3040-\ud7a3]{2,}")
_CLAUSES = re.compile(r"(?<=[,;:–—…、，；：])\s*|\s+(?=[-–—]\s)|(?<=\.\.\.)\s*")
_APART = re.compile(r"[\s…,]+")
_OTHER_KIND = frozenset({"question_mark", "self", "reported", "symptom", "praise"})


def line(words: str, lexicon: Lexicon) -> str:
    """The rule as one line in the user's language, without greetings and "no,"."""
    text = _trim(words, lexicon)
    text = redact(" ".join(text.split()))
    if len(text) > MAX_CHARACTERS:
        text = text[: MAX_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
    return text if _begins_with_a_name(text) else text[:1].upper() + text[1:]


def telling(
    best: Sentence, sentences: tuple[Sentence, ...], typed: Typed, lexicon: Lexicon
) -> tuple[Sentence, ...]:
    """
    What says what to do, of a message whose `best` makes it a correction: one sentence, with what
    belongs to it: behind a semicolon, or what is to be done instead.

    A remark ("wrong again.") or a reproach ("you didn't use pnpm.") gives way to the sentence that
    says what to do, when there is one.
    """
    told = _most_telling(best, sentences, lexicon)
    first = last = sentences.index(told)

    def goes_on(at: int) -> bool:
        return _goes_on(sentences[at], sentences[at + 1], typed, lexicon)

    while last + 1 < len(sentences) and goes_on(last):
        last += 1
    while first > 0 and goes_on(first - 1):
        first -= 1
    if first == last and not has_matter(told, lexicon):  # "Native methods. Always."
        while first > 0 and _is_fragment(sentences[first - 1], lexicon):
            first -= 1
    return sentences[first : last + 1]


def _is_fragment(sentence: Sentence, lexicon: Lexicon) -> bool:
    is_short = lexicon.spaced and len(sentence.text.split()) <= _FRAGMENT
    return is_short and not sentence.features & (_OTHER_KIND | {"blame", "told", "bare_reject"})


def has_matter(sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether it says of what it speaks: "always" and "we always do" do not."""
    rest = sentence.folded
    for category in ("always", "henceforth", "norm", "everywhere"):
        rest = lexicon.without(category, rest)
    return _has_words(rest, lexicon)


def clauses(sentence: str) -> list[str]:
    """A sentence, or the clauses of one that is too long for a rule."""
    if len(sentence) <= MAX_CHARACTERS:
        return [sentence]
    return [one for one in _CLAUSES.split(sentence) if one.strip()]


def is_heading(heading: str, lexicon: Lexicon) -> bool:
    """Whether folded text says for how long or where, or that rules follow, and nothing else."""
    said = heading.strip(" \t:：*#")
    rest = said
    for category in ("please", "henceforth", "project"):
        rest = lexicon.without(category, rest)
    rest = _APART.sub(" ", rest).strip()
    return lexicon.has("headline", rest) or (rest != said and not _has_words(rest, lexicon))


def _has_words(text: str, lexicon: Lexicon) -> bool:
    return any(word not in lexicon.stop for word in _MATTER.findall(text))


def _goes_on(one: Sentence, following: Sentence, typed: Typed, lexicon: Lexicon) -> bool:
    """Whether the second of two that both say how it shall be belongs to the first."""
    if (one.features | following.features) & (_OTHER_KIND | {"blame"}):
        return False
    is_cut_at_code = restore_code(one.text, typed).endswith("`") and one.text.endswith("…")
    return is_cut_at_code or one.text.endswith((";", "；")) or _replaces(one, following, lexicon)


def _replaces(one: Sentence, following: Sentence, lexicon: Lexicon) -> bool:
    """Whether the second says what is to be done in the place of what the first refuses."""
    if "prohibit" not in one or not has_matter(one, lexicon):
        return False
    if lexicon.has("alternative", following.folded):
        return True
    return families.substitutes(following.folded, one.folded) and "direct" in following


def _most_telling(best: Sentence, sentences: tuple[Sentence, ...], lexicon: Lexicon) -> Sentence:
    is_reproach = _is_reproach(best, lexicon)
    is_above = is_headline(best.text) and best is not sentences[-1]
    if is_above and is_heading(best.folded, lexicon):
        return sentences[sentences.index(best) + 1]
    if best.features & _TELLS and len(best.text) > 6 and not is_reproach:
        return best
    after = sentences[sentences.index(best) + 1 :] if best in sentences else ()
    candidates = [one for one in (*after, *sentences) if _tells(one, best, is_reproach=is_reproach)]
    return candidates[0] if candidates else best


def _is_reproach(sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether it says what the assistant did, and not also what it never shall."""
    if "prohibit" in sentence and not lexicon.spaced:  # 「勝手にコミットしないで」
        return False
    return "blame" in sentence and not sentence.features & {"repair", "henceforth", "norm"}


def _tells(one: Sentence, best: Sentence, *, is_reproach: bool) -> bool:
    if not is_reproach:
        return bool(one.features & _TELLS)
    wanted = one.features & (_TELLS | {"henceforth"})
    return (
        one is not best and bool(wanted) and not one.features & {"blame", "question_mark", "self"}
    )


def _trim(text: str, lexicon: Lexicon) -> str:
    """Without what surrounds the rule; what is asked as a favour is no question any more."""
    while (shorter := _FILLER.sub("", _without_opening(text, lexicon))) != text:
        text = shorter
    while (shorter := _FILLER.sub("", _without_closing(text, lexicon))) != text:
        text = shorter
    return text.rstrip(".。।!！ ")


def _without_opening(text: str, lexicon: Lexicon) -> str:
    folded = lexicon.fold(text)
    denied = _unfolded(_denial(folded, lexicon), text, lexicon)
    if 0 < denied < len(text) - 3:
        return text[denied:]
    if len(folded) != len(text):
        return text
    for category in ("please", "joining", "reject", "opening"):
        match = next((one for one in lexicon.every(category, folded) if one.start() == 0), None)
        if match is None or match.end() >= len(text) - 3:
            continue
        left = text[match.end() :]
        if category in {"reject", "opening"} and not _SEPARATOR.match(left):
            continue
        if category == "joining" and left.endswith("?") and " you " in f" {match.group()} ":
            return left.rstrip("? ")
        return left
    return text


def _denial(folded: str, lexicon: Lexicon) -> int:
    """
    Where a "no" ends that is said without a comma before a clause of its own, or 0.

    Of few words the language is a guess: then English is asked, too, unless the "no" is a
    prohibition in the language itself, as in Spanish "no uses var".
    """
    match = lexicon.search("denial", folded)
    if match is None and not _is_first(lexicon.search("prohibit", folded)):
        match = english().search("denial", folded)
    return match.end() if match is not None and _is_first(match) else 0


def _unfolded(end: int, text: str, lexicon: Lexicon) -> int:
    """Where in a text that is which ends there when folded: "ß" becomes two letters."""
    return next((at for at in range(len(text)) if len(lexicon.fold(text[:at])) >= end), len(text))


def _is_first(match: re.Match[str] | None) -> bool:
    return match is not None and match.start() == 0


def _without_closing(text: str, lexicon: Lexicon) -> str:
    """Without a ", ok?": what it is said with, not what is said."""
    folded = lexicon.fold(text)
    match = lexicon.search("closing", folded) if len(folded) == len(text) else None
    if match is None or not _ENDS_APART.search(text[: match.start()]):
        return text
    return text[: match.start()]


def _begins_with_a_name(text: str) -> bool:
    first = text.split(" ", 1)[0]
    return bool(_NAME.match(first)) or families.category_of(first) == "tooling"
