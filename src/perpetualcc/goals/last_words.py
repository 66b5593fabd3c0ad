"""
A question, a request to answer, or what holds the work up, in the last words of a turn. Whoever
sits at the terminal reads it; of a run that nobody watches it would be the end, and its task done.
"""

import re


def _patterns(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text, re.IGNORECASE) for text in texts)


_LOOKED_AT = 2_000
"""Characters at the end."""
_CODE = re.compile(r"`[^`\n]*`")
_LISTED = re.compile(r"(?:[-*•+]|\(?[\dA-Za-z]{1,2}[.)])\s")
_SENTENCE = re.compile(r"(?<=[.!?…؟])\s+|(?<=[。！？])")
_AFTER = re.compile(r"[^\w?？؟]+$")
"""What may stand behind a question mark: quotes, stars, a smile."""
_ASKS = ("?", "？", "؟")

_TURNS_TO = r"(?:^\W*|[,;:—–]\s+)(?:(?:please|so|just|then|and|but)\s+|(?:your call|up to you)\W+)*"
"""Where a sentence speaks to its reader: "The logs tell me which …" does not."""
_TELL = r"(?:let me know|tell me|(?:please|just) (?:advise|clarify|confirm|say|specify))\b"
_ANSWER = (
    rf"(?:{_TELL}|(?:answer|approve|choose|confirm|decide|give me|paste|pick|provide|reply|say"
    r"|select|send|share)\b)"
)
_WAITED_FOR = (
    r"(?:answer|approval|choice|confirmation|decision|go-ahead|input|instructions|reply)"
    r"(?=\W*$|[,;.]| (?:before|first|here|on|so|to)\b)"
)
_ONCE_DECIDED = (
    r"(?:as soon as|once|when) you(?:'ve| have)? "
    r"(?:answer|choose|chosen|confirm|decide|pick|repl|tell me|told me)"
)
_REQUESTS = _patterns(
    rf"{_TURNS_TO}{_TELL}(?! if\b)[^.]{{0,40}}?\b(?:which|what|whether|how|where|who)\b",
    rf"{_TURNS_TO}{_TELL} (?:the|your)\b",
    rf"{_TURNS_TO}{_ANSWER}.*\b(?:and|so|then|before)(?: that)? I(?:'ll| will| can)?\b",
    rf"{_TURNS_TO}let me know if I (?:should|can|may) (?:begin|continue|go|proceed|start)\b",
    rf"{_TURNS_TO}(?:please )?(?:choose|decide|pick|select) (?:an option|between)\b",
    r"\bplease (?:advise|answer|choose|confirm|decide)\W*$",
    rf"\b(?:wait(?:ing)? (?:for|on)|await(?:ing)?|need) your {_WAITED_FOR}",
    r"\bneed you to (?:choose|confirm|decide|pick|tell me)\b",
    rf"^\W*{_ONCE_DECIDED}\w*,? .*\bI(?:'ll| will| can)\b",
    rf"\bI(?:'ll| will| can) .*\b{_ONCE_DECIDED}",
    # German, French, Spanish.
    r"^\W*(?:bitte )?(?:sag|sage|sagen Sie)(?: mir)?(?: bitte)?, (?:welch|was|wie|ob ich)",
    r"^\W*(?:dis|dites)-moi (?:quel|lequel|laquelle|lesquel|ce que|comment)",
    r"^\W*(?:dime|dígame|indícame) (?:cuál|qué|cómo|si sigo|si continúo)",
)
_ON = r"(?:carry on|complete (?:it|the|this)|continue|finish|go (?:any )?(?:on|further)|proceed)\b"
_GO_ON = rf"(?:can(?:'t|not| not)|am (?:unable|not able) to) {_ON}"
_HELD_UP = _patterns(
    r"\bI(?:'m| am)(?: currently| now| still)? blocked\b",
    rf"\bI {_GO_ON}.*\b(?:before|until|unless|without)\b",
    rf"\b(?:before|until|unless|without)\b.* I {_GO_ON}",
    rf"\bI(?:'ll| will)?(?: still)? need\b.*\b(?:to|before I can) {_ON}",
)
"""No request in form; what it lacks, only a person can bring."""
_OFFERS = re.compile(
    r"^\W*(?:if|should|in case|feel free)\b|\bif (?:you|there|any|some)"
    r"|\bwhether you(?:'d| would)? (?:like|need|want)(?: me)? (?:to|any)\b"
    r"|\byou (?:find|see|think)\b|\bhow (?:I can help|it|that|things|this)\b"
    r"|\b(?:also|else|feedback|further|next|other|results?|thoughts)\b"
    r"|\b(?:noch|sonst|weitere|als Nächstes|d'autre|ensuite|más)\b",
    re.IGNORECASE,
)
"""Words of who is done, and would do more."""

ASKED = (
    "You had ended your turn with a question, or with something that you wait for. Nobody reads "
    "the end of a turn; the task would count as done. If the work depends on what only a person "
    "can say or bring, ask with AskUserQuestion. If you can decide it yourself, decide, and go on. "
    "If the task is done, and the question only offered more, do nothing more: end your turn with "
    "what you did."
)


def question_at_the_end(said: str) -> str:
    """
    The question, request or hindrance that a message ends with, or offers a list for; else empty.

    A sentence may follow it ("… or should I wait? I would wait."), and the choices.
    """
    text = _CODE.sub(lambda code: code[0].replace("?", " "), said[-_LOOKED_AT:])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    while len(lines) > 1 and _LISTED.match(lines[-1]):
        if _asks(choice := lines.pop()):  # what is only requested there is a person's next step
            return choice
    sentences = [one.strip() for one in _SENTENCE.split(lines[-1])] if lines else []
    last = [one for one in sentences if one][-2:]
    return next((one for one in last if _asks(one) or _requests(one)), "")


def _asks(sentence: str) -> bool:
    return _AFTER.sub("", sentence).endswith(_ASKS)


def _requests(sentence: str) -> bool:
    plain = sentence.replace("’", "'")
    if any(one.search(plain) for one in _HELD_UP):
        return True
    return not _OFFERS.search(plain) and any(one.search(plain) for one in _REQUESTS)
