"""
Running a file: judged by where it came from, what this line put into it, and its name.

A script of the shell that lies in the project and whose name says nothing is read through, as it
is now, and its lines are judged as if they stood here: LOW is only what is so to the last of them.
"""

import posixpath
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.blocked import SHELLS
from perpetualcc.permissions.commands import places
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.findings import remote_code
from perpetualcc.permissions.commands.passed_on import judge_told
from perpetualcc.permissions.commands.programs.interpreters import inline_code
from perpetualcc.permissions.commands.programs.runners import is_shell_setup
from perpetualcc.permissions.commands.tasks import judge_task
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.paths import Zone
from perpetualcc.permissions.shell.binding import DECLARATIONS
from perpetualcc.permissions.shell.outputs import printed_by
from perpetualcc.permissions.shell.script import Word

SCRIPT_LENGTH = 40_000
"""Characters of a script that is read through; a longer one is judged by its name alone."""
_REMOTE_SCRIPT = re.compile(r"(?:https?|ftp|data|npm|jsr):", re.IGNORECASE)
_SHELL_SUFFIXES = frozenset({".sh", ".bash", ".zsh", ".ksh", ".dash", ".bats"})
_READ_AS_SHELL = SHELLS | {"source", "."}
"""Programs that take a file for shell code, whatever its name."""
_SHELL_LINE = re.compile(r"#!\s*\S*(?:/|env\s+)(?:ba|da|z|k|a)?sh\b|(?!#!)")
"""The first line of what a shell runs, when a file is called by its name."""
_PLAIN_SHELLS = frozenset({"bash", "sh", "dash", "zsh"})
_PLAIN_OPTION = re.compile(r"-[eux]+|-[eux]*o|pipefail")
_SHEBANG = re.compile(r"#! ?(?:/usr)?/bin/(?:env )?(?:ba|da|z)?sh(?: -[eux]+)?\n")
_OWN_NAME = r"\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?\})"
_OWN_DIRECTORY = re.compile(rf"\$\(\s*dirname (?:-- )?(?:\"{_OWN_NAME}\"|{_OWN_NAME})\s*\)")
_ENTERED = re.compile(
    r"\$\(\s*cd (?:-- )?\"?([\w./-]+)\"?(?: &?> ?/dev/null(?: 2>&1)?)? && pwd(?: -P)?\s*\)"
)
_QUOTING = re.compile(r"['`\\]|<<|-c\b")
_COMMENT = re.compile(r"(?m)^\s*#.*$")
_ODD_NAME = re.compile(r"[^\w./-]|^-")


def judge_script_file(word: Word, call: Call) -> Findings:
    """`bash scripts/x.sh -f` is also known as the command `scripts/x.sh -f`."""
    words = call.command.words
    after = next((i for i, one in enumerate(words) if one is word), len(words)) + 1
    own = (word, *words[after:])
    found = _script_file(word, call)
    is_own = tuple(words) == own
    return found if is_own else [_as_command(f, words, own) for f in found]


def _script_file(word: Word, call: Call) -> Findings:
    location = call.judge.territory.locate(word.text, call.cwds)
    feeds = call.judge.found(call.command.feeds)
    if _REMOTE_SCRIPT.match(word.text):
        return [remote_code(call, f"Fetches and runs {word.text[:80]}")]
    if (
        call.judge.files.is_download(location.path)
        or call.judge.files.has_unpacked_download
        or (word.code and any(e.kind is EffectKind.NETWORK for f in feeds for e in f.effects))
    ):
        return [remote_code(call, "Runs code that was just fetched from the network")]
    if word.code and word.text.startswith("/dev/fd/"):
        return _printed_script(word, call)
    known = _known_script(word, call)
    if known is not None and location.zone in {Zone.SAFE, Zone.PROJECT}:
        return known
    found = _written_script(word, location.path, call)
    if location.zone not in {Zone.SAFE, Zone.PROJECT}:
        why = f"Runs a file {location.zone.value}"
        outside = call.finding(Risk.MEDIUM, "script-outside", why, EffectKind.EXECUTE)
        return [outside, *found]
    if found:
        return found
    named = judge_task(word.text, call, is_script=True)
    return [*_by_its_lines(named, location.path, word, call), *_told_script(word, call)]


def _by_its_lines(named: Finding, path: str, word: Word, call: Call) -> Findings:
    """A script whose name says nothing is LOW where each of its lines is."""
    if named.risk is not Risk.MEDIUM or not _runs_alone(path, word, call):
        return [named]
    text = _script_text(path, word, call)
    found = [] if text is None else call.judge.script(path, text, call)
    if not found or any(one.risk is not Risk.LOW for one in found):
        return [named]
    why = f"Runs {word.text!r}, of which each line was read"
    return [replace(named, risk=Risk.LOW, rule="script-read", explanation=why), *found]


def _runs_alone(path: str, word: Word, call: Call) -> bool:
    """In a shell of its own, from one known place, and with nothing but words from this line."""
    judge, words = call.judge, call.command.words
    before = words[: next((i for i, one in enumerate(words) if one is word), len(words))]
    is_called = bool(before) and before[0].text in _PLAIN_SHELLS
    has_words = all(one.is_constant and not one.globs for one in words)
    gives = judge.exports_all or judge.exported or call.command.assignments
    defines = any(one.words and one.words[0].text in DECLARATIONS for one in judge.earlier())
    is_known = len(call.cwds) == 1 and not judge.territory.links and not judge.files.touches(path)
    is_plain = all(_PLAIN_OPTION.fullmatch(one.text) for one in before[1:])
    is_alone = is_known and not gives and not defines
    return is_alone and has_words and is_plain and (is_called or not before)


def _script_text(path: str, word: Word, call: Call) -> str | None:
    """What the file holds, with the words that it is given; None where no shell reads it so."""
    try:
        text = read_regular(Path(path), SCRIPT_LENGTH + 1).decode()
    except (OSError, ValueError):
        return None
    if len(text) > SCRIPT_LENGTH or "\0" in text or "\r" in text:
        return None
    words = call.command.words
    if (text[:2] == "#!" or words[0] is word) and not _SHEBANG.match(text):
        return None
    after = next(i for i, one in enumerate(words) if one is word) + 1
    given = " ".join(shlex.quote(one.text) for one in words[after:])
    return f"set -- {given}\n{_placed(text, posixpath.dirname(word.text) or '.')}"


def _placed(text: str, directory: str) -> str:
    """With its own directory in place of `$(dirname "$0")`, where no quotes make that a text."""
    if _ODD_NAME.search(directory):
        return text
    match = _OWN_DIRECTORY.search(text)
    while match is not None and _QUOTING.search(_COMMENT.sub("", text[: match.start()])) is None:
        text = text[: match.start()] + directory + text[match.end() :]
        match = _OWN_DIRECTORY.search(text)
    start = "" if directory[:1] == "/" else "$PWD/"
    return _ENTERED.sub(rf"{start}\1", text) if match is None else text


def _told_script(word: Word, call: Call) -> Findings:
    """`ruby bin/cli.rb destroy prod`; what a table knows by its name has its own words."""
    name = posixpath.basename(word.text)
    if call.judge.knowledge.program(name) is not None:
        return []
    words = call.command.words
    after = next((i for i, one in enumerate(words) if one is word), len(words)) + 1
    return judge_told(name, words[after:], call)


def _written_script(word: Word, path: str, call: Call) -> Findings:
    """What this very line has written is judged by that, and never by its name alone."""
    if path not in call.judge.files:
        return []
    text, suffix = call.judge.files.text(path), posixpath.splitext(path)[1]
    named = judge_task(word.text, call)
    if text is None:
        why = "Runs a file that this same line writes"
        return [call.finding(Risk.MEDIUM, "script-written", why, EffectKind.EXECUTE), named]
    is_shell = suffix.lower() in _SHELL_SUFFIXES or call.arguments.path in _READ_AS_SHELL
    if is_shell or (call.command.words[0] is word and _SHELL_LINE.match(text)):
        return [*call.judge.shell(text, call), named]
    return [*inline_code(text, call), named]


def _printed_script(word: Word, call: Call) -> Findings:
    """`bash <(echo code)`: what a command prints is the script."""
    sources = call.command.feeds
    if len(sources) == 1 and (text := printed_by(sources[0])) is not None:
        return call.judge.shell(text, call)
    if all(is_shell_setup(code) for code in word.code):
        why = "Runs the set-up lines that a tool prints"
        return [call.finding(Risk.MEDIUM, "shell-setup", why, EffectKind.EXECUTE)]
    why = "Runs what another command prints as code"
    return [call.finding(Risk.HIGH, "piped-code", why, EffectKind.EXECUTE)]


def _known_script(word: Word, call: Call) -> Findings | None:
    """`python manage.py test`, `php artisan migrate`, `php vendor/bin/phpunit`."""
    name = posixpath.basename(word.text)
    if "node_modules/" in word.text or "vendor/" in word.text:
        name = posixpath.splitext(name)[0]
    program = call.judge.knowledge.program(name)
    operands = call.arguments.operands
    if program is None or program.rule is None or name == call.arguments.path or not operands:
        return None
    if operands[0] is not word or not places.is_named_program(word.text):
        return None
    return call.judge.words([Word(name), *operands[1:]], call)


def _as_command(finding: Finding, words: Sequence[Word], own: tuple[Word, ...]) -> Finding:
    """What was found about `words` itself is about the script; its contents stay as they are."""
    return replace(finding, words=own) if finding.words == tuple(words) else finding
