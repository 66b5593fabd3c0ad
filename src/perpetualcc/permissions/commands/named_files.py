"""What a call reads whose operands are no paths, as far as is known: some name a file."""

import re
from dataclasses import replace

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.commands.piped_names import names_left_out
from perpetualcc.permissions.paths import READ_HOLDER
from perpetualcc.permissions.protected import RAW_DEVICES
from perpetualcc.permissions.shell.script import Word

LISTS_NAMES = frozenset(
    {"git check-ignore", "git check-attr", "git ls-files", "git status", "git log", "git rm",
     "git rm --cached", "git update-index", "git ls-tree", "find", "gfind", "fd", "fdfind",
     "npm run", "pip install"}
)  # fmt: skip
"""Commands that show or drop the names of files, not what is in them."""
_FIND = frozenset({"find", "gfind"})
_NAMES_BRANCHES = frozenset(
    {"git branch", "git checkout", "git cherry-pick", "git fetch", "git merge", "git merge-base",
     "git pull", "git push", "git rebase", "git reset", "git restore", "git rev-parse",
     "git switch", "git tag", "git worktree add"}
)  # fmt: skip
"""Commands whose words name branches, `fix/credentials`, or files that they do not show."""
_SHOWS_CHANGES = ("-p", "-u", "--patch", "-L", "-c", "--cc", "--word-diff", "--full-diff")
_RANGE = re.compile(r"[^/.]\.{2,3}[^/.]")

_MAY_ONLY_BE_LISTED = frozenset({f"read-{RAW_DEVICES}", READ_HOLDER})


def with_named_files(findings: Findings, call: Call, rule: CommandRule) -> Findings:
    """Which files it reads, as far as its words say; and the credentials among them."""
    operands = call.reads(_named_files(call))
    named = [*operands, *call.reads(_named_values(call))]
    if rule.operands == "code":
        operands += call.reads(w for w in call.arguments.operands if "." not in w.text)
    if not (operands or named):
        return findings
    reads = (effect for finding in operands for effect in finding.effects)
    base = replace(findings[0], effects=(*findings[0].effects, *reads))
    if call.arguments.path in _NAMES_BRANCHES:
        return [base, *findings[1:]]
    shown = (f for f in named if f.risk is Risk.HIGH and f.rule not in _MAY_ONLY_BE_LISTED)
    return [base, *findings[1:], *shown]


def _named_files(call: Call) -> list[Word]:
    """Its operands are no paths as far as is known, but some name a file all the same."""
    left_out = names_left_out(call.command.words) if call.arguments.path in _FIND else ()
    words = [w for w in call.arguments.operands if " " not in w.text and w not in left_out]
    named = [_after_revision(w) for w in words if not _is_range(w, call)]
    is_listing = call.arguments.path in LISTS_NAMES and not _shows_changes(call)
    files = [w for w in named if "/" in w.text or ("." in w.text and not is_listing)]
    return [*files, *_files_of_history(call)]


def _named_values(call: Call) -> list[Word]:
    words = [g.value for g in call.arguments.given if g.value and g.rule.role == "value"]
    return [word for word in words if "/" in word.text and " " not in word.text]


def _shows_changes(call: Call) -> bool:
    """`git log -p` shows what is in the files, and not only their names."""
    words = [word.text for word in call.arguments.rest]
    return call.arguments.path == "git log" and any(
        word in _SHOWS_CHANGES or word.startswith(("-L", "--patch-with", "--word-diff"))
        for word in words
    )


def _files_of_history(call: Call) -> list[Word]:
    """The files whose contents git shows: behind `--`, and in `-L1,5:file`."""
    if not (_shows_changes(call) or call.arguments.path in {"git diff", "git show", "git blame"}):
        return []
    words = [word.text for word in call.command.words[1:]]
    behind = words[words.index("--") + 1 :] if "--" in words else []
    lines = [word.rpartition(":")[2] for word in words if word.startswith("-L") and ":" in word]
    return [Word(text) for text in (*behind, *lines) if text]


def _after_revision(word: Word) -> Word:
    """`HEAD:.env` shows the file after the colon."""
    revision, colon, path = word.text.partition(":")
    return Word(path) if colon and path and "/" not in revision else word


def _is_range(word: Word, call: Call) -> bool:
    """`main...fix/credentials`: two branches, and no file."""
    return call.command.words[0].text == "git" and _RANGE.search(word.text) is not None
