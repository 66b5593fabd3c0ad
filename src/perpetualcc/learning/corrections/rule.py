"""One short rule out of the user's own words."""

import re

from perpetualcc.domain.secrets import redact
from perpetualcc.learning.corrections.features import Sentence
from perpetualcc.learning.corrections.lexicon import Lexicon

MAX_CHARACTERS = 160

_FILLER = re.compile(r"^[\s,.;:!?…–—\-，。、！？]+|[\s,;:…–—\-，、]+$")


def state(best: Sentence, sentences: tuple[Sentence, ...], lexicon: Lexicon) -> str:
    """
    The rule as one line in the user's language, without greetings and "no,".

    A remark ("wrong again.") is followed by the sentence that says what to do, when there is one.
    """
    telling = _most_telling(best, sentences)
    text = _trim(telling.text, lexicon)
    text = redact(" ".join(text.split()))
    if len(text) > MAX_CHARACTERS:
        text = text[: MAX_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
    return text[:1].upper() + text[1:]


def _most_telling(best: Sentence, sentences: tuple[Sentence, ...]) -> Sentence:
    tells = {"direct", "prohibit", "contrast", "norm", "always"}
    if best.features & tells and len(best.text) > 6:
        return best
    after = sentences[sentences.index(best) + 1 :] if best in sentences else ()
    candidates = [one for one in (*after, *sentences) if one.features & tells]
    return candidates[0] if candidates else best


def _trim(text: str, lexicon: Lexicon) -> str:
    for _ in range(4):
        shorter = _without_opening(_FILLER.sub("", text), lexicon)
        if shorter == text:
            break
        text = shorter
    return text.rstrip(".。!！ ")


def _without_opening(text: str, lexicon: Lexicon) -> str:
    folded = lexicon.fold(text)
    if len(folded) != len(text):
        return text
    for category in ("please", "reject"):
        match = lexicon.search(category, folded)
        if match is None or match.start() > 0 or match.end() >= len(text) - 3:
            continue
        if category == "reject" and not re.match(r"\s*[,.!，。！、:;–—-]", text[match.end() :]):
            continue
        return text[match.end() :]
    return text
