"""
`pcc` on other machines, by the `ssh` that leads there already. Nothing of ours listens on a
network: who may log in there may work there.
"""

import base64
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perpetualcc.cli.look import one_line, printable, terminal_width
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.texts import cut

HERE = "here"
"""What this machine is called among the others."""

_NOT_REACHED = 255
"""What `ssh` ends with when it did not get through (ssh(1))."""
_NO_PCC = 127
"""What a shell ends with that knows no such program."""
_UNASKED = ("-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
"""Several machines at once: none asks for a password or keeps the others waiting."""
_NOBODY_TO_ASK = {"SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "force"}
"""Nor does the `ssh` of a `ProxyJump`, which does not know how this one was called (ssh(1))."""
_PATIENCE = 60.0
"""Seconds for the whole answer: a machine that fell asleep after the login says nothing more."""
_BEGINS = "pcc begins"
"""What comes before it a shell's own files have said: they are read by a login, too."""
_SCRIPT = """\
PATH="$PATH:$HOME/.local/bin:/opt/homebrew/bin:/usr/local/bin"
command -v pcc >/dev/null || exit {missing}
{before}
exec pcc {words}
"""
"""A login by `ssh` reads no profile: where `uv` and `pipx` put commands is often not looked at."""
_COLOURS = re.compile(r"(\x1b\[[\d;]*m)")
_END, _MOST = 4_000, 200
"""Characters that are looked at of what a machine says in the place of an answer, and told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a machine answered."""

    host: str
    code: int
    output: str
    """As it was printed there, colours included; if nothing was, what it said of the reason."""
    problem: PerpetualError | None = None
    """Why there is no answer."""

    @property
    def shown(self) -> str:
        """For a terminal: of what steers one, its colours alone."""
        parts = _COLOURS.split(self.output)
        return "".join(part if i % 2 else printable(part) for i, part in enumerate(parts))

    @property
    def in_short(self) -> str:
        """Of what is no answer: the error that `pcc` names, or how it ends."""
        errors = re.findall(r"^error: (.*)", self.output[-_END:], re.MULTILINE)
        return _last_line("".join(errors[-1:]) or self.output) or f"It ends with code {self.code}"


def type_on(host: str, words: Sequence[str]) -> int:
    """
    Type `pcc WORDS` on a host, in this terminal. Its exit code.

    Raises:
        PerpetualError: it is not reached, or has no `pcc`.
    """
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    code = _run(["ssh", "-t" if is_terminal else "-T", "--", host, _line(words)]).returncode
    if problem := _problem(host, code, ""):
        raise problem
    return code


def ask_all(options: GlobalOptions, hosts: Sequence[str], words: Sequence[str]) -> list[Said]:
    """What `pcc WORDS` prints here and on each of the hosts, all at once, in this order."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(hosts) + 1) as threads:
        here = threads.submit(_ask_here, options, words)
        there = [threads.submit(_ask, host, words) for host in hosts]
        return [one.result() for one in (here, *there)]


def _ask_here(options: GlobalOptions, words: Sequence[str]) -> Said:
    done = _run(_own(options, words), stdin=subprocess.DEVNULL, capture_output=True)
    output, errors = map(_text, (done.stdout, done.stderr))
    return Said(host=HERE, code=done.returncode, output=output or errors)


def _ask(host: str, words: Sequence[str]) -> Said:
    """What comes after the words of the login is the answer."""
    asked, alone = _theirs(host, words), {**os.environ, **_NOBODY_TO_ASK}
    try:
        done = _run(
            asked, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, env=alone
        )
    except subprocess.TimeoutExpired:
        told, hint = f"{host!r} has not answered within a minute", f"Look there: ssh {host}"
        problem = PerpetualError(told, hint=hint)
        return Said(host=host, code=_NOT_REACHED, output="", problem=problem)
    output, errors = map(_text, (done.stdout, done.stderr))
    before, begins, output = output.partition(f"{_BEGINS}\n")
    if found := _problem(host, done.returncode, errors or before, begins=bool(begins)):
        return Said(host=host, code=done.returncode or 1, output="", problem=found)
    return Said(host=host, code=done.returncode, output=output or errors)


def _text(printed: bytes) -> str:
    return printed.decode(errors="replace").replace("\r\n", "\n")


def _run(command: Sequence[str], **how: Any) -> subprocess.CompletedProcess[bytes]:
    try:
        done: subprocess.CompletedProcess[bytes] = subprocess.run(command, check=False, **how)
    except FileNotFoundError as error:
        raise PerpetualError("There is no ssh here", hint="Install an OpenSSH client") from error
    except OSError as error:  # what is typed may be too long for any program
        raise PerpetualError(
            f"ssh cannot be started: {error.strerror}", hint="Type less, or type it there"
        ) from error
    return done


def _own(options: GlobalOptions, words: Sequence[str]) -> list[str]:
    data = str(options.locations.data)
    return [sys.executable, "-m", "perpetualcc.cli.main", "--data-dir", data, *words]


def _theirs(host: str, words: Sequence[str]) -> list[str]:
    """With a terminal there, as wide as ours, where we have one."""
    columns = terminal_width() if "--json" not in words else None
    wide = f"stty cols {columns} 2>/dev/null\n" if columns else ""
    line = _line(words, f"{wide}echo {shlex.quote(_BEGINS)}")
    return ["ssh", "-tt" if columns else "-T", *_UNASKED, "--", host, line]


def _line(words: Sequence[str], before: str = "") -> str:
    """For a login shell of any kind: in these letters none of them sees anything to expand."""
    script = _SCRIPT.format(missing=_NO_PCC, before=before, words=shlex.join(words))
    coded = base64.b64encode(script.encode("utf-8", "surrogateescape")).decode()
    return f"""exec sh -c 'eval "$(printf %s {coded} | base64 --decode)"'"""


def _problem(host: str, code: int, said: str, *, begins: bool = True) -> PerpetualError | None:
    """`begins`: as far as is known, `pcc` was started there."""
    why = _last_line(said).removeprefix("ssh: ")
    because = f": {why}" if why else ""
    if code == _NOT_REACHED:
        hint = f"Mend this first: ssh {host}"
        return PerpetualError(f"{host!r} is not reached{because}", hint=hint)
    if code == _NO_PCC:
        hint = f"Install PerpetualCC there, or put pcc on the PATH that this has: ssh {host} env"
        return PerpetualError(f"{host!r} has no pcc", hint=hint)
    if not begins:
        hint = f"See what it says: ssh {host} true"
        return PerpetualError(f"{host!r} runs no command{because}", hint=hint)
    return None


def _last_line(said: str) -> str:
    """What `ssh` says at the end is why; before it may stand a banner, or a page of warning."""
    return cut(one_line(said[-_END:].strip().rpartition("\n")[2]), _MOST)
