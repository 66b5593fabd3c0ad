"""What changes how a shell reads the rest of the line: `set -o`, `setopt`, `autoload`, `hash`."""

import re
from collections.abc import Iterable, Sequence

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_HARMLESS = frozenset(
    {"allexport", "beep", "bgnice", "bghup", "braceexpand", "checkjobs", "checkrunningjobs",
     "clobber", "cshnullglob", "dotglob", "emacs", "errexit", "errreturn", "errtrace", "exec",
     "extendedhistory", "functrace", "glob", "globdots", "hashall", "histexpand", "history",
     "hup", "ignoreeof", "interactivecomments", "ksharrays", "localoptions", "localpatterns",
     "localtraps", "log", "longlistjobs", "match", "monitor", "multios", "nullglob",
     "numericglobsort", "onecmd", "physical", "pipefail", "posix", "printexitvalue",
     "pushdsilent", "rmstarsilent", "rmstarwait", "sharehistory", "shwordsplit", "tify",
     "typesetsilent", "unset", "verbose", "vi", "warncreateglobal", "warnnestedvar", "xtrace"}
)  # fmt: skip
"""
Options of bash and zsh that change nothing in what a line means, or make zsh read as bash does:
without `_`, and without `no` at the beginning. Not among them is what runs code in names of files
or in texts (`bareglobqual`, `extendedglob`, `promptsubst`, `globsubst`).
"""
_EXPORTS_ALL = re.compile(r"-\w*a\w*")
_HARMLESS_LETTERS = frozenset("abefhmnouvxBCEH")


def reads_otherwise(call: Call) -> Finding:
    why = "Changes how the shell reads what follows"
    return call.finding(Risk.MEDIUM, "shell-option", why, EffectKind.EXECUTE)


def set_reads_otherwise(call: Call) -> bool:
    """`set -k`, `set -o extendedglob`, and `set -A NAME …` of zsh, which sets a variable."""
    words = iter([word.text for word in call.arguments.rest])
    for word in words:
        if word[:1] not in {"-", "+"} or word in {"-", "--"}:
            return False
        name = next(words, "pipefail") if word.endswith("o") else "pipefail"
        if not _HARMLESS_LETTERS.issuperset(word[1:]) or not _are_harmless([name], call):
            return True
    return False


@handles("shell-options")
def shell_options(call: Call) -> Findings:
    """`shopt -s dotglob`, `setopt promptsubst`: what `*` or a text means from here on."""
    words = [word.text for word in call.arguments.rest]
    if call.arguments.path == "shopt":
        call.judge.territory.globs_hidden |= "-s" in words and "dotglob" in words
        return []
    call.judge.exports_all |= exports_all(call.arguments.rest)
    return [] if _are_harmless(words, call) else [reads_otherwise(call)]


@handles("shell-names")
def shell_names(call: Call) -> Findings:
    """`hash ls=/tmp/ls` and `autoload /tmp/ls` of zsh say what a name runs."""
    words = [word.text for word in call.arguments.operands]
    if any("=" in word for word in words) and not call.arguments.has("-d"):
        why = "Makes a name run another program"
        return [call.finding(Risk.HIGH, "shell-name", why, EffectKind.EXECUTE)]
    if any("/" in word or UNKNOWN in word for word in words):
        why = "Makes a name run code from a file"
        return [call.finding(Risk.MEDIUM, "shell-name", why, EffectKind.EXECUTE)]
    return []


def _are_harmless(words: Iterable[str], call: Call) -> bool:
    names = {_plain(word) for word in words}
    if not names.isdisjoint({"dotglob", "globdots"}):
        call.judge.territory.globs_hidden = True
    return names <= _HARMLESS


def exports_all(words: Sequence[Word]) -> bool:
    """`set -a`, `bash -o allexport`, `setopt ALL_EXPORT`: what is set from here on is exported."""
    return any(_EXPORTS_ALL.fullmatch(word.text) for word in words) or any(
        _plain(word.text) == "allexport" for word in words
    )


def _plain(word: str) -> str:
    """`NO_nomatch` is `match`: zsh ignores `_` and case, and `no` says it is not set."""
    name = word.lower().replace("_", "")
    while name.startswith("no"):
        name = name[2:]
    return name
