"""The many ways people write a key and its value on one line."""

import re

# A key is a noun phrase: longer ones are sentences with a colon in them.
_MAX_KEY_WORDS = 7

_BOLD_KEY = re.compile(
    r"^(?P<mark>\*\*|__|\*|_|`)(?P<key>[^*_`]{1,80}?)\s*(?P<inside>[:：])?\s*(?P=mark)"
    r"\s*(?P<between>[:：=]|[–—-](?=\s)|->|→|=>)?\s*(?P<value>.*)$"
)
_PLAIN_KEY = re.compile(
    r"^(?P<key>[^:：=|]{1,80}?)\s*(?:[:：](?=\s|[^\x00-\x7f]|$)|(?<![<>!=])=(?![=>])|\s(?:->|→|=>|–|—|-)\s)"
    r"\s*(?P<value>.*)$"
)
_USE_FOR = re.compile(
    r"^(?:we\s+(?:will\s+)?)?(?:please\s+)?(?:use|prefer|choose|pick)\s+(?P<value>(?!.*\b(?:not|never)\b)"
    r"[^,;]{1,60}?)\s+(?:for|as)\s+(?:the\s+|our\s+|all\s+)?(?P<key>(?:(?!\bfor\b|\bas\b)[^,;.]){1,50}?)\s*\.?\s*$",
    re.IGNORECASE,
)
# "MK7: …", "R-12: …" and "REQ_3: …" count requirements, and say nothing about them.
_NUMBER = re.compile(r"[A-Z]{1,6}[-_. ]?\d{1,4}[a-z]?")
# `ui/` is a place, and says nothing about what is in it.
_PATH = re.compile(r"^[\w.@-]*/[\w./@*-]*$")
# Struck out is what somebody took back.
_STRUCK = re.compile(r"~~.*?~~")
_LINK = re.compile(r"!?\[([^\[\]]+)\]\((?:[^()]|\([^()]*\))*\)")
"""Each bracket is looked at once: a line may be a megabyte of them."""
_MARKS = re.compile(
    r"(?P<ticks>(?<!`)`+)(?P<code>[^`]+)(?P=ticks)|\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)"
)
_BOLD = re.compile(r"(?<![\w/*.])\*\*(?=[\w`\[(])(?P<words>[^*]+)(?<=\S)\*\*(?![\w/*])")


def without_marks(text: str) -> str:
    """Text without Markdown's emphasis, code marks and link targets; code stands as it is."""
    text = _STRUCK.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    return " ".join(_MARKS.sub(lambda found: found["code"] or "", text).split())


def as_order(text: str) -> str:
    """Text as Claude is to read it: names, globs, code and addresses as typed, nothing bold."""
    return " ".join(_BOLD.sub(r"\g<words>", _STRUCK.sub(" ", text)).split())


def split_key_value(text: str) -> tuple[str, str]:
    """
    The key and value that a line states; an empty key when it is a sentence.

    A trailing colon without a value keeps the key: the list below it is the value.
    """
    text = _STRUCK.sub(" ", text).strip()
    bold = _BOLD_KEY.match(text)
    if bold and _PATH.match(bold["key"]):
        return "", without_marks(text)
    if bold and (bold["inside"] or bold["between"]):
        return without_marks(bold["key"]), without_marks(bold["value"])
    flat = without_marks(text)
    use = _USE_FOR.match(flat)
    if use:
        return use["key"].strip(), use["value"].strip()
    found = _PLAIN_KEY.match(flat)
    # "Battery below 15 % -> return" is a rule, not a key.
    if found and re.search(r"\d.*\s(?:->|→|=>|–|—|-)\s", flat[: found.start("value")]):
        return "", flat
    if found and _NUMBER.fullmatch(found["key"].strip()):
        return split_key_value(found["value"])
    if found and 0 < len(found["key"].split()) <= _MAX_KEY_WORDS and not _is_address(flat):
        return found["key"].strip(), found["value"].strip()
    return "", flat


def _is_address(text: str) -> bool:
    return re.match(r"^\w+://", text) is not None


def table_cells(line: str) -> list[str]:
    """The cells of a table row."""
    inner = line.strip().removeprefix("|").removesuffix("|")
    cells = re.split(r"(?<!\\)\|", inner)
    return [without_marks(cell.replace(r"\|", "|").strip()) for cell in cells]
