"""
A question in the last words of a turn. Whoever sits at the terminal reads it; of a run that nobody
watches it would only be the end, and its task done.
"""

import re

_LOOKED_AT = 2_000
"""Characters at the end."""
_CODE = re.compile(r"`[^`\n]*`")
_LISTED = re.compile(r"(?:[-*•+]|\(?[\dA-Za-z]{1,2}[.)])\s")
_SENTENCE = re.compile(r"(?<=[.!?…؟])\s+|(?<=[。！？])")
_AFTER = re.compile(r"[^\w?？؟]+$")
"""What may stand behind a question mark: quotes, stars, a smile."""
_ASKS = ("?", "？", "؟")

ASKED = (
    "You had ended your turn with a question. Nobody reads the end of a turn; the task would count "
    "as done. If the work depends on what only a person can say, ask with AskUserQuestion. If you "
    "can decide it yourself, decide, and go on. If the task is done, and the question only offered "
    "more, do nothing more: end your turn with what you did."
)


def question_at_the_end(said: str) -> str:
    """
    The question that a message ends with, or offers a list for; empty when there is none.

    A sentence may follow it ("… or should I wait? I would wait."), and the choices.
    """
    text = _CODE.sub(lambda code: code[0].replace("?", " "), said[-_LOOKED_AT:])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    while len(lines) > 1 and _LISTED.match(lines[-1]):
        if _asks(choice := lines.pop()):
            return choice
    sentences = _SENTENCE.split(lines[-1]) if lines else []
    return next((one.strip() for one in [s for s in sentences if s.strip()][-2:] if _asks(one)), "")


def _asks(sentence: str) -> bool:
    return _AFTER.sub("", sentence).endswith(_ASKS)
