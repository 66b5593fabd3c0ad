"""
What still counts of a policy file with a mistake: whatever can be read of it that is stricter.

Such a file is no TOML, or says what nothing can mean, so it is read word by word: the texts that
stand after a key are its entries, be the rest as it may. What would loosen anything does not count.
"""

import difflib
import re
from collections.abc import Iterator
from functools import lru_cache

from perpetualcc.permissions.setting_checks import is_useful

STRICTER = ("safe_directories", "blocked_commands", "credential_paths")
"""Lists that can make things stricter; of the safe directories those that are named are left."""
_KEYS = (*STRICTER, "credential_exceptions", "trusted_hosts", "auto_approve_low_risk")
_WORD = re.compile(
    r"#[^\n]*"
    r'|"(?P<basic>(?:[^"\\\n]|\\.){0,500})(?:"(?P<quoted>[ \t]*=)?|$)'
    r"|'(?P<literal>[^'\n]{0,500})(?:'|$)"
    r"|(?P<key>[A-Za-z_][\w-]{0,60})[ \t]*=",
    re.MULTILINE,
)
"""A comment, a text (one that is never closed ends with its line), or a key."""
_LONGEST_FILE = 100_000
_MOST_ENTRIES = 500


@lru_cache(maxsize=16)
def entries_that_hold(content: bytes) -> dict[str, tuple[str, ...]]:
    """By key; a key that is misspelt is the one that it is nearest to. Never raises."""
    found: dict[str, dict[str, None]] = {}
    text = content[:_LONGEST_FILE].decode("utf-8", "replace")
    for key, entry in _entries(text):
        entries = found.setdefault(key, {})
        if entry and len(entries) < _MOST_ENTRIES:
            entries[entry] = None
    return {
        key: tuple(entry for entry in found[key] if is_useful(key, entry))
        for key in STRICTER
        if key in found
    }


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Each key, and each text after it; with an empty one for the key itself."""
    key = ""
    for match in _WORD.finditer(text):
        named = match["key"] or (match["basic"] if match["quoted"] else None)
        if named is not None:
            key = next(iter(difflib.get_close_matches(named, _KEYS, n=1, cutoff=0.75)), "")
        entry = match["basic"] if match["literal"] is None else match["literal"]
        if key and (named is not None or entry is not None):
            yield key, "" if named is not None else (entry or "").strip(" \t,]")
