"""Redaction: applied before anything is written to a log, memory, checkpoint or notification."""

import re
from functools import lru_cache

_MARK = "[redacted]"
_SHORT = 100
"""Characters. What is longer seldom comes twice."""

# Vendor prefixes as their documentation publishes them; each needs a long random tail, so prose
# that mentions a prefix stays readable.
_TOKENS = re.compile(
    r"""
    \b(?:
        sk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{16,}        # Anthropic, OpenAI, Stripe
      | (?:rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}                # Stripe
      | gh[pousr]_[A-Za-z0-9]{30,} | github_pat_[A-Za-z0-9_]{30,}
      | glpat-[A-Za-z0-9_-]{16,}
      | xox[abeoprs]-[A-Za-z0-9-]{10,}                          # Slack
      | (?:AKIA|ASIA)[A-Z0-9]{16}                               # AWS
      | AIza[A-Za-z0-9_-]{30,}                                  # Google
      | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{30,} | hf_[A-Za-z0-9]{30,}
      | eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{5,}  # JSON Web Token
    )""",
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(?:-----END \1-----|\Z)", re.DOTALL
)
# A name is looked at from its beginning only: from each place in it, minified text takes minutes.
_ASSIGNMENT = re.compile(
    r"""(?ix)
    (?<![\w.-])([\w.-]*(?:passw(?:or)?d|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)\b["']?
       \s*[:=]\s*)
    (?P<quote>["']?)(?!env:|\$|\{|<|\[redacted\])[^\s"',;]{8,}(?P=quote)
    """
)
_DIGIT = re.compile(r"\d")
_URL_PASSWORD = re.compile(r"((?<![a-z0-9+.-])[a-z0-9+.-]+://[^\s:/@]+:)[^\s@/]+@", re.IGNORECASE)
_BEARER = re.compile(r"(\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{12,}", re.IGNORECASE)


def holds_token(text: str) -> bool:
    """Whether it holds a vendor's token or a private key. Words like `sk-fading-circle` do not."""
    if _PRIVATE_KEY.search(text):
        return True
    return any(_DIGIT.search(match[0]) for match in _TOKENS.finditer(text))


def redact(text: str) -> str:
    """Replace what looks like a live secret with `[redacted]`. Idempotent."""
    return _redacted_word(text) if len(text) <= _SHORT else _redacted(text)


@lru_cache(maxsize=4096)
def _redacted_word(text: str) -> str:
    """Most of what is written down is names, keys and reasons that come again and again."""
    return _redacted(text)


def _redacted(text: str) -> str:
    # Again as long as something was found: a secret may end where the next one begins.
    while (cleaned := _redacted_once(text)) != text:
        text = cleaned
    return text


def _redacted_once(text: str) -> str:
    text = _PRIVATE_KEY.sub(_MARK, text)
    text = _TOKENS.sub(_MARK, text)
    text = _BEARER.sub(rf"\1{_MARK}", text)
    text = _URL_PASSWORD.sub(rf"\1{_MARK}@", text)
    return _ASSIGNMENT.sub(rf"\1{_MARK}", text)
