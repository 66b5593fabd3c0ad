"""
A message as numbers: what grammar says about its sentences, and the letters it is written in.

Named signals are the grammatical features of `features.py`, with where they stand and what stands
beside them; a person can read them. Letter signals are short runs of letters, hashed: they know
the thousand ways of saying "I said" that no list of patterns holds. Joint signals are what stands
beside what, hashed too: the words after which the user spoke, and any two named signals that are
not pairs already. "To the left" is an answer after a question, and after "I put it to the right" a
correction. `model.py` weighs them all.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from zlib import crc32

from perpetualcc.learning.corrections import families
from perpetualcc.learning.corrections.acts import LAST, acts, moves
from perpetualcc.learning.corrections.category import category
from perpetualcc.learning.corrections.concepts import concepts
from perpetualcc.learning.corrections.durability import Lasting
from perpetualcc.learning.corrections.features import Sentence
from perpetualcc.learning.corrections.text import Typed, fold

BUCKETS = 1 << 15
"""How many letter signals there are. 32 kB a model at one byte each."""
JOINT_BUCKETS = 1 << 16
"""How many joint signals there are."""

_HEAD = 240
_TAIL = 80
"""Characters looked at: who corrects does it at the beginning, or at the end."""

_LEADING = 16
"""Characters within which a message says first that something lasts."""

_ASKED = ("?", "？", "؟", "か。", "吗。")

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[?!]")
_CODE = re.compile(r"[\w@./:-]*[./_:@\\][\w@./:-]*\w|\b\w+\d\w*\b|\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What the model weighs."""

    named: Mapping[str, float]
    letters: Mapping[int, float]
    """Bucket to strength; the squares sum to 1: a long message counts as much as a short one."""
    joint: Mapping[int, float]
    """Bucket to strength."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A message as its best reading sees it, beside what the assistant said."""

    language: str
    """The code of the language it was read in."""
    typed: Typed
    sentences: tuple[Sentence, ...]
    best: Sentence
    score: float
    """What the rules of `weights.py` make of it."""
    assistant: str
    """Folded."""
    lasting: Lasting


def signals(scene: Scene) -> Signals:
    """Everything that is measured about a message."""
    text = " ".join(fold(part, accents=False) for part in scene.typed.sentences)
    named = _named(scene, text)
    return Signals(named=named, letters=_letters(text), joint=_joint(named, scene.assistant))


def _named(scene: Scene, text: str) -> dict[str, float]:
    named = {"score": max(-6.0, min(6.0, scene.score)) / 3, "always": 1.0}
    named.update((f"best:{name}", 1.0) for name in scene.best.features)
    named.update((f"first:{name}", 0.7) for name in scene.sentences[0].features)
    named.update((f"last:{name}", 0.5) for name in scene.sentences[-1].features)
    named.update((f"any:{name}", 0.5) for one in scene.sentences for name in one.features)
    named.update((f"best:{one}+{other}", 0.7) for one, other in _pairs(scene.best.features))
    named.update((f"lasts:{name}", 1.0) for name in scene.lasting.found)
    named[f"about:{category(scene.best.folded)}"] = 1.0
    named["lasts"] = max(-3.0, min(3.0, scene.lasting.score)) / 2
    if scene.assistant.rstrip(" *_`\n").endswith(_ASKED):
        # What turns something down answers here.
        named.update((f"asked+{name}", 1.0) for name in scene.best.features)
    meant = concepts(text, scene.language)
    named.update(meant)
    theirs, yours = acts(scene.assistant), moves(text)
    named.update((f"they:{act}", 1.0) for act in theirs)
    named.update((f"you:{move}", 1.0) for move in yours)
    named.update((f"they:{act}+you:{move}", 0.7) for act in theirs for move in yours)
    if "assistant asked" in (shape := _shape(scene, text)):
        named.update((f"asked+{name}", worth) for name, worth in meant.items() if ">" not in name)
    named.update(shape)
    return named


_JOINED = (
    "reject", "contrast", "prohibit", "direct", "product", "request_first", "question_mark",
    "blame", "wrong", "symptom", "praise", "grounded", "self", "always", "must", "instead",
    "poor", "working", "excess", "told", "norm", "request",
)  # fmt: skip


def _pairs(features: frozenset[str]) -> Iterator[tuple[str, str]]:
    present = [name for name in _JOINED if name in features]
    for position, one in enumerate(present):
        for other in present[position + 1 :]:
            yield one, other


def _shape(scene: Scene, text: str) -> dict[str, float]:
    """Length, punctuation, code, and what of it the assistant had said."""
    shape: dict[str, float] = {}
    count = len(scene.sentences)
    shape[f"sentences:{min(count, 4)}"] = 1.0
    shape[f"length:{min(len(text) // 30, 8)}"] = 1.0
    shape["question at the end"] = float(text.rstrip().endswith(_ASKED))
    shape["had code"] = float(scene.typed.had_code)
    shape["quotes"] = float("…" in scene.typed.with_code)
    shape["had error"] = float(scene.typed.had_error)
    shape["had cheer"] = float(scene.typed.had_cheer)
    persists = _PERSISTING.search(text)
    if persists is not None:
        shape["persists"] = 1.0
        shape["persists at the start"] = float(persists.start() <= _LEADING)
    said = scene.assistant.rstrip(" *_`\n")
    shape["assistant asked"] = float(said.endswith(_ASKED))
    if said:
        shared = _shared(text, said)
        shape["shared"] = shared
        shape["shares much"] = float(shared > 0.34)
        shape["shares none"] = float(shared == 0.0)
        plain = fold(said, accents=False)
        denied = _denies(text, plain)
        shape["denies what was said"] = float(denied)
        shape["answers by denying"] = float(denied and said.endswith(_ASKED))
        mine, theirs = families.named(text), families.named(said)
        shape.update(_against(text, plain))
        shape["same tool"] = float(any(mine[one] & theirs.get(one, set()) for one in mine))
    return {name: value for name, value in shape.items() if value}


def _against(text: str, said: str) -> dict[str, float]:
    """Whether numbers and names in code are the assistant's, or others beside its own."""
    found: dict[str, float] = {}
    for name, kind in (("number", _NUMBER), ("code", _IDENTIFIER)):
        mine, theirs = (set(kind.findall(one)) for one in (text, said))
        is_again, is_other = bool(mine & theirs), bool(mine - theirs)
        found[f"its {name}"] = float(is_again)
        found[f"another {name}"] = float(bool(theirs) and is_other)
        found[f"its {name} and another"] = float(is_again and is_other)
    return found


_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_IDENTIFIER = re.compile(r"[a-z_]\w*(?:[./_-]\w+)+|(?<=`)[^`\s]+(?=`)|\.[a-z]{2,4}\b")


_NEGATION_WORDS = """
    no not don't dont never without nicht kein keine keinen keiner nie niemals ohne nee non pas
    jamais sans nunca sin ni nao nem sem mai niente senza nessun niet geen nooit zonder ne bez
    zadnych degil yok hayir не нет ни без никогда ні немає жодних khong dung chua لا ليس ليست
    مش ما بدون नहीं मत ना बिना nahi mat bukan tidak jangan tanpa
"""
"""Negation is a closed class in every language: the ones of the languages we read, folded."""
_NEGATION = frozenset(_NEGATION_WORDS.split())
_UNSPACED_NEGATION = re.compile(
    "不要|不是|不用|[不别別没沒]|じゃなく|ではなく|じゃない|ない|ません|말고|아니|안|없"
)


_PERSISTING = re.compile(
    r"\b(?:still|same|again|immer noch|noch immer|nach wie vor|toujours (?:pas|plus|rien|le|la)"
    r"|encore (?:le|la|un|une)|todavia|aun|sigue|siguen|continua|continuam|ainda|ancora|все еще"
    r"|все равно|до сих пор|по-прежнему|все одно|досі|hala|dalej|nadal|wciaz|nog steeds"
    r"|van (?:con|loi|bi|khong|chua)|masih|tetap"
    r"|(?:das|der|die) ?selbe|(?:das|der|die) gleiche|(?:lo|el|la) mism[oa]|mesm[oa]"
    r"|meme (?:erreur|chose)|pareil|stess[oa]|(?:de|het)zelfde|to samo|ten sam|ta sama|ayni"
    r"|та же|то же|тот же|так же|та сама|те саме|той самий|так само|nhu cu|y chang)\b"
    r"|还是|仍|依然|一样|同样|まだ|相変わらず|同じ|아직|여전히|똑같|لسه|ما زال|لا يزال|نفس"
    r"|अभी भी|अब भी|वही"
)
"""What says that a state lasts, in text without accents: it did not go away, it is still so."""


def _denies(text: str, said: str) -> bool:
    """Whether a word the assistant used stands beside a negation: "verde no", "not the cache"."""
    words = _WORD.findall(text)
    stems = {word[:5] for word in _WORD.findall(said) if len(word) > 3}
    for position, word in enumerate(words):
        near = words[max(0, position - 2) : position + 4] if word in _NEGATION else []
        if any(len(one) > 3 and one[:5] in stems for one in near):
            return True
    return any(_pair_in(_around(text, match), said) for match in _UNSPACED_NEGATION.finditer(text))


def _around(text: str, match: re.Match[str]) -> str:
    before = text[max(0, match.start() - 5) : match.start()]
    return f"{before} {text[match.end() : match.end() + 5]}"


def _pair_in(near: str, said: str) -> bool:
    return any(
        one >= "\u2e80" and other != " " and one + other in said for one, other in pairwise(near)
    )


def _shared(text: str, said: str) -> float:
    """The part of the message's words, or pairs of letters, that the assistant had used."""
    words = [word for word in _WORD.findall(text) if len(word) > 2]
    if words and sum(word.isascii() or word[0] < "\u2e80" for word in words) >= len(words) / 2:
        stems = {word[:5] for word in _WORD.findall(fold(said, accents=False)) if len(word) > 2}
        return sum(word[:5] in stems for word in words) / len(words)
    pairs = {text[i : i + 2] for i in range(len(text) - 1) if text[i] >= "\u2e80"}
    return sum(pair in said for pair in pairs) / max(1, len(pairs))


_BESIDE = (
    "says:", "opens:", "best:", "first:", "you:", "they:", "about:", "its ", "another ", "shares ",
    "length:", "sentences:", "had ", "same tool", "question at the end", "assistant asked",
    "denies what was said", "answers by denying", "persists",
)  # fmt: skip
"""How the named signals begin of which any two together may say something else than each."""
_PAIR, _WORD_BEFORE = 0.25, 0.9
"""How strong two signals together are, and a word of the assistant's."""


def _joint(named: Mapping[str, float], said: str) -> dict[int, float]:
    """Any two signals, and the assistant's last words."""
    present = [_hash(name) for name in sorted(named) if _may_join(name)]
    found = {(31 * one + other) % JOINT_BUCKETS: _PAIR for one, other in combinations(present, 2)}
    last = _CODE.sub("#", fold(said, accents=False)[-LAST:])
    found.update((_hash(word) % JOINT_BUCKETS, _WORD_BEFORE) for word in _WORD.findall(last))
    return found


@lru_cache(maxsize=8192)
def _may_join(name: str) -> bool:
    return name.startswith(_BESIDE) and "+" not in name and ">" not in name


@lru_cache(maxsize=8192)
def _hash(text: str) -> int:
    return crc32(text.encode())


def _letters(text: str) -> dict[int, float]:
    counts: dict[int, float] = {}
    for run, worth in _runs(text):
        bucket = crc32(run.encode()) % BUCKETS
        counts[bucket] = min(2.0, counts.get(bucket, 0.0) + worth)
    norm = sum(value * value for value in counts.values()) ** 0.5
    return {bucket: value / norm for bucket, value in counts.items()} if norm else {}


def _runs(text: str) -> Iterator[tuple[str, float]]:
    """Runs of 2 to 5 letters inside words, words, pairs of words, and how the message opens."""
    # What is named matters less than what is said of it: paths and numbers become one sign.
    plain = _CODE.sub("#", text)
    if len(plain) > _HEAD + _TAIL:
        plain = f"{plain[:_HEAD]} {plain[-_TAIL:]}"
    words = _WORD.findall(plain)
    for word in words:
        framed = f" {word} "
        for size in (3, 4, 5):
            for start in range(max(0, len(framed) - size + 1)):
                yield framed[start : start + size], 1.0
        if word[0] >= "\u2e80":
            for start in range(len(word) - 1):
                yield word[start : start + 2], 1.0
        yield f"w:{word}", 1.0
    for one, other in pairwise(words):
        yield f"p:{one} {other}", 1.0
    if words:
        opening = "".join(words[:3])[:12] if words[0][0] >= "\u2e80" else " ".join(words[:2])
        for size in (1, 2, 3, 4):
            yield f"^{opening[:size]}", 1.0
        yield f"^w:{words[0]}", 1.0
        yield f"^p:{' '.join(words[:2])}", 1.0
