"""
What the user typed, and nothing else.

Quotations, code, logs and blocks that were injected by tools are somebody else's words: a rule
found in them is never the user's.
"""

import re
import unicodedata
from dataclasses import dataclass

MAX_CHARACTERS = 6_000
"""Longer messages are pastes. The head and the tail are kept: people write around a paste."""
_SENTENCE_CHARACTERS = 400
_SENTENCES = 12
"""First and last so many: who corrects does it at the beginning or at the end."""

# What Claude Code (2.1.330) marks as not typed, in its own list of such blocks.
_INJECTED = re.compile(
    r"<(perpetualcc[\w-]*|system[-_]reminder|command-[\w-]+|local-command-[\w-]+|task-notification"
    r"|ide_[\w-]+|(?:user-prompt-submit|post-tool-use)-hook|bash-(?:input|stdout|stderr)"
    r"|channel(?=\ source=)|(?:agent|teammate|cross-session)-message|slack-(?:ping|tag-message)"
    r"|coordinator-relay|remote-review(?:-progress)?|fetched-web-content|untrusted-[\w-]+|webhook-payload"
    r"|mcp-(?:resource|polling)-update|artifact-[\w-]+|persisted-output|repl-output"
    r"|previous-conversation|function_results|tool_use_error|sandbox_violations|fork-boilerplate)"
    r"\b[^>]*>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_RELAYED = re.compile(
    r"\s*(?:(?:Another Claude|A peer) session sent a message\b"
    r"|The .{1,80} plugin sent a message:\n|\[SYSTEM NOTIFICATION - NOT USER INPUT\])"
)
"""How a message begins that Claude Code puts into the user's place."""
_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\s*(?:>|&gt;|\|\s).*$", re.MULTILINE)
_LOG_LINE = re.compile(
    r"""^\s*(?:
        \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*            # a time stamp
      | \[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE)\b[\]: ].*
      | (?:npm|pnpm|yarn)\ (?:ERR!|WARN|error)\b.*
      | Traceback\ \(most.* | File\ ".*",\ line\ \d+.* | at\ \S+\ \(.*:\d+.*\) | \.{3}\s\d+\ more
      | (?:[\w.]+\.)?\w*(?:Error|Exception|Warning)\b:?\s.*  # TypeError: …
      | error(?:\[\w+\]|\ TS\d+)?:\s.* | panic:\s.* | (?:FAIL|FAILED|PASS)\s+\S+.*
      | \$\ \S.* | \S+@\S+[:~].*\$\ .* | (?:\+{3}|-{3}|@@)\s.* | diff\ --git.*
    )$""",
    re.MULTILINE | re.VERBOSE,
)
_INLINE_CODE = re.compile(r"`([^`\n]{1,400})`")
_QUOTES = re.compile(
    r"\"([^\"\n]{1,600})\"|“([^”]{1,600})”|„([^“”]{1,600})[“”]|«\s?([^»]{1,600})»"
    r"|「([^」]{1,600})」|『([^』]{1,600})』|《([^》]{1,600})》"
    r"|(?<!\w)'([^'\n]{1,600}[^s\W])'(?!\w)|‘([^’\n]{1,600})’(?!\w)"
)
_CODE_OR_QUOTES = re.compile(f"{_INLINE_CODE.pattern}|{_QUOTES.pattern}")
_LONGEST_CODE = 100
"""Characters of a piece of code that a rule may hold."""
_HIDDEN = f"(?:`[^`\\n]{{1,{_LONGEST_CODE}}}`|…)"
ERROR_NAME = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception)\b|\bE[A-Z]{4,}\b|\bTS\d{4}\b|\bHTTP[ /]?[45]\d\d\b"
    r"|\bSIG[A-Z]{3,}\b|\bexit (?:code|status) [1-9]\d*\b|\bstatus (?:code )?[45]\d\d\b"
    r"|\b(?:NaN|segfault|stack ?trace|traceback|undefined|ECONN\w+|OOM)\b"
)
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])\s+|(?<=[。！？!?；])|\n+|(?<=[;؛।؟])\s*|(?<=[.!?])(?=[A-Z][a-z])"
)
_ITEM = re.compile(r"(\s*)(?:[-*•–]|\d{1,2}[.)．、])\s*(?=\S)(.+)")
_HEADING = re.compile(r"[:：]\s*$")
_EMOJI_PRAISE = re.compile(
    "[\U0001f44d\U0001f389\U0001f64f\U0001f44f\U0001f525\U0001f4af\u2764\u2705]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A message without what the user did not write themself."""

    sentences: tuple[str, ...]
    with_code: str
    """The whole, with the pieces of code in its lines that are an ellipsis in the sentences."""
    had_code: bool
    """A code block or log lines were cut away."""
    had_error: bool
    """An error's name is in it."""
    had_cheer: bool
    """A thumbs up or the like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """An item of a list, and the line with a colon above the list."""

    heading: str
    item: str


def listed(message: str) -> tuple[str, list[Listed]]:
    """The items of lists that have a heading, and what else was typed."""
    rest, found, heading = "", list[Listed](), ""
    outer: tuple[int, str] | None = None
    for line in _bare(_whole(message)).splitlines():
        item = _ITEM.fullmatch(line)
        if item is None or not heading:
            before, last = _parted(line) if item is None and is_headline(line) else (line, "")
            heading = last or ("" if line.strip() else heading)
            rest += f"{before}\n"
            continue
        depth, text = len(item[1]), item[2].strip()
        if outer is not None and depth <= outer[0]:
            outer = None
        if is_headline(text):
            outer = depth, text
        else:
            found.append(Listed(heading=heading, item=f"{outer[1]} {text}" if outer else text))
    return rest, found


def _parted(line: str) -> tuple[str, str]:
    """The line's last sentence, and what stands before it."""
    *before, last = _SENTENCE_END.split(line.strip())
    return " ".join(before), last


def is_headline(text: str) -> bool:
    """Whether a colon ends it: what it speaks of is below."""
    return _HEADING.search(text) is not None


def read(message: str) -> Typed:
    """Strip what is not typed by the user and cut the rest into sentences."""
    text = _whole(message)
    bare = _bare(text)
    had_code = len(bare.strip()) < len(text.strip()) - 8
    with_code = _CODE_OR_QUOTES.sub(_quotation_or_code, bare)
    bare = _INLINE_CODE.sub(_short_quotation, bare)
    bare = _QUOTES.sub(_short_quotation, bare)
    parts = (part.strip(" \t-*•–")[:_SENTENCE_CHARACTERS] for part in _SENTENCE_END.split(bare))
    sentences = [part for part in parts if any(c.isalnum() for c in part)]
    return Typed(
        sentences=tuple(sentences[:_SENTENCES] + sentences[_SENTENCES:][-_SENTENCES:]),
        with_code=with_code,
        had_code=had_code,
        had_error=bool(ERROR_NAME.search(text)),
        had_cheer=bool(_EMOJI_PRAISE.search(text)),
    )


def _whole(message: str) -> str:
    return strip_injected(_shorten(message)).replace("\r\n", "\n")


def _bare(text: str) -> str:
    """Without blocks of code, quoted lines and logs."""
    return _LOG_LINE.sub("\n", _QUOTED_LINE.sub("\n", _FENCE.sub("\n", text)))


def strip_injected(message: str) -> str:
    """Remove blocks that Claude Code, its hooks or we put into a prompt, and what others sent."""
    return "" if _RELAYED.match(message) else _INJECTED.sub("\n", message)


def fold(text: str, *, accents: bool) -> str:
    """
    One form for what people type in several: compatibility characters, case, apostrophes.

    With `accents` false, diacritics go too: half of all chat is typed without them.
    """
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("ё", "е")
    text = text.replace("ß", "ss").replace("أ", "ا").replace("إ", "ا").replace("آ", "ا")
    text = text.replace("i̇", "i")
    if accents:
        return text
    text = text.replace("ı", "i").replace("ł", "l").replace("ø", "o").replace("æ", "ae")
    text = text.replace("đ", "d")
    bare = "".join(_without_accent(character) for character in text)
    return unicodedata.normalize("NFC", bare)


def _without_accent(character: str) -> str:
    if not "\u00c0" <= character <= "\u024f" and not (
        "\u1e00" <= character <= "\u1eff" or "\u0300" <= character <= "\u036f"
    ):
        return character
    decomposed = unicodedata.normalize("NFD", character)
    return "".join(part for part in decomposed if not unicodedata.combining(part))


def _shorten(message: str) -> str:
    if len(message) <= MAX_CHARACTERS:
        return message
    half = MAX_CHARACTERS // 2
    return f"{message[:half]}\n{message[-half:]}"


def _short_quotation(match: re.Match[str]) -> str:
    """Names stay (`npm`, "Settings"); sentences that somebody else wrote become an ellipsis."""
    inner = next(group for group in match.groups() if group is not None)
    return (
        inner
        if len(inner) <= 30 and len(inner.split()) <= 2 and not _looks_cjk_long(inner)
        else "…"
    )


def _quotation_or_code(match: re.Match[str]) -> str:
    """The same, but code stays what it is: in a line of theirs it is what the user speaks of."""
    short = _short_quotation(match)
    return match.group() if short == "…" and match.group(1) is not None else short


def restore_code(sentence: str, typed: Typed) -> str:
    """A sentence with its code: "never use `git add .`" says nothing without it."""
    pattern = _HIDDEN.join(map(re.escape, sentence.split("…")))
    found = re.search(pattern, typed.with_code) if "…" in sentence else None
    return found.group() if found else sentence


def _looks_cjk_long(text: str) -> bool:
    return sum(1 for character in text if character >= "\u2e80") > 8
