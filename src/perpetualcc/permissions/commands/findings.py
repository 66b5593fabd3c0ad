"""Findings about a command as a whole, before anything is known about its program."""

import posixpath

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.shell.script import Problem, SimpleCommand

_PROBLEM_RISK = {
    Problem.SYNTAX: Risk.MEDIUM,
    Problem.UNKNOWN_CONSTRUCT: Risk.MEDIUM,
    Problem.RECURSION: Risk.HIGH,
    Problem.TOO_DEEP: Risk.HIGH,
    Problem.TOO_LONG: Risk.HIGH,
}
_EMPTY_BY_CUSTOM = frozenset(
    {"__init__.py", "py.typed", ".gitkeep", ".keep", ".nojekyll", ".placeholder"}
)
"""Names of files that exist to be empty."""


def remote_code(call: Call, why: str) -> Finding:
    return call.finding(
        Risk.HIGH, "remote-code", why, EffectKind.EXECUTE, EffectKind.NETWORK
    )  # fmt: skip


def problem_found(problem: Problem, part: str) -> Finding:
    return Finding(
        risk=_PROBLEM_RISK[problem], rule=problem.name.lower().replace("_", "-"), part=part,
        explanation=f"It cannot be read with certainty: {problem.value}", kind=problem.value,
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip


def blocked(command: SimpleCommand, pattern: str) -> Finding:
    return Finding(
        risk=Risk.HIGH, rule="blocked-command", part=command.source, kind=f"blocked {pattern}",
        explanation=f"The settings always block {pattern!r}", forbidden=True,
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip


def prints_nothing(command: SimpleCommand) -> bool:
    """`> file` alone, and `ls && : > file`, whose redirection the grammar gives to the whole."""
    words = [word.text for word in command.words]
    if not words and command.feeds:
        return prints_nothing(command.feeds[-1])
    return not words or words in ([":"], ["true"], ["cat", "/dev/null"])


def emptied(target: str, part: str) -> Findings:
    """`: > file`: a new file, or one that was there and is now empty."""
    if posixpath.basename(target) in _EMPTY_BY_CUSTOM or target.startswith("/dev/"):
        return []
    is_data = target.endswith((".db", ".sqlite", ".sqlite3", ".mdb", ".rdb", ".dump"))
    return [
        Finding(
            risk=Risk.HIGH if is_data else Risk.MEDIUM, rule="emptied", part=part, kind="empty",
            explanation="Empties the file; what was in it is gone",
            effects=(Effect(kind=EffectKind.WRITE, target=target),),
        )
    ]  # fmt: skip


def filled_disk(command: SimpleCommand) -> Findings:
    """`yes > file`, `cat /dev/zero | tee file`."""
    files = [r.target.text for r in command.redirections if r.writes]
    if command.words and command.words[0].text == "tee":
        files += [word.text for word in command.words[1:] if word.text[:1] != "-"]
    files = [file for file in files if not file.startswith("/dev/") and not file.isdigit()]
    if not files or not _never_ends(command):
        return []
    return [
        Finding(
            risk=Risk.MEDIUM, rule="fills-disk", part=command.source, kind="fill disk",
            explanation="Writes without an end, until the disk is full",
            effects=(Effect(kind=EffectKind.WRITE, target=files[0]),),
        )
    ]  # fmt: skip


def _never_ends(command: SimpleCommand) -> bool:
    """`yes`, `cat /dev/zero`, and what passes on all that these print."""
    name, *texts = [word.text for word in command.words] or [""]
    if name not in PASSES_ON:
        return name == "yes"
    is_fed = bool(command.upstream) and _never_ends(command.upstream[-1])
    return is_fed or not _ENDLESS.isdisjoint(texts)


PASSES_ON = frozenset({"cat", "pv", "tee", "tr", "base64", "xxd", "od"})
"""Programs that print what they read."""
_ENDLESS = frozenset({"/dev/zero", "/dev/urandom", "/dev/random"})


def prints_secret(command: SimpleCommand, why: str) -> Finding:
    return Finding(
        risk=Risk.MEDIUM, rule="prints-secret", part=command.source, kind="prints secret",
        words=command.words, explanation=why,
    )  # fmt: skip


def told_to_others(command: SimpleCommand) -> Finding:
    return Finding(
        risk=Risk.HIGH, rule="secret-leaves", part=command.source, kind="secret leaves",
        words=command.words, explanation="Tells others a variable that is named like a secret",
        effects=(Effect(kind=EffectKind.NETWORK),),
    )  # fmt: skip


def given_shell(command: SimpleCommand) -> Finding:
    return Finding(
        risk=Risk.HIGH, rule="given-shell", part=command.source, kind="given shell",
        explanation="A program that can run others is given a shell",
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip


def raw_socket(target: str, part: str) -> Finding:
    return Finding(
        risk=Risk.HIGH, rule="raw-socket", part=part, kind="raw socket",
        explanation="Opens a network connection from the shell",
        effects=(Effect(kind=EffectKind.NETWORK, target=target),),
    )  # fmt: skip


def calls_function(command: SimpleCommand) -> Finding:
    if any(word.is_secret for word in command.words):
        return prints_secret(command, "Gives a function a variable that is named like a secret")
    return Finding(
        risk=Risk.LOW,
        rule="function",
        part=command.source,
        kind="function",
        words=command.words,
        explanation="Calls a function of this same line, whose body is judged on its own",
    )


def computed(command: SimpleCommand, *, is_hidden: bool) -> Finding:
    return Finding(
        risk=Risk.HIGH if is_hidden else Risk.MEDIUM,
        rule="computed-command", part=command.source, kind="computed command",
        words=command.words,
        explanation="Which program it runs is known only when it runs",
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip


def script_changed(path: str) -> Finding:
    return Finding(
        risk=Risk.MEDIUM, rule="script-written", part=posixpath.basename(path),
        kind="script written",
        explanation="Runs a file that this same line writes",
        effects=(Effect(kind=EffectKind.EXECUTE, target=path),),
    )  # fmt: skip


def nothing() -> Finding:
    return Finding(
        risk=Risk.LOW, rule="nothing", part="", explanation="Runs nothing", kind="nothing"
    )
