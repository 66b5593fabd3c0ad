"""
`pcc` on other machines, by the `ssh` that leads there already. Nothing of ours listens on a
network: who may log in there may work there.
"""

import base64
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perpetualcc.cli.look import one_line, terminal_width
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.domain.errors import PerpetualError

HERE = "here"
"""What this machine is called among the others."""

_NOT_REACHED = 255
"""What `ssh` ends with when it did not get through (ssh(1))."""
_NO_PCC = 127
"""What a shell ends with that knows no such program."""
_UNASKED = ("-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
"""Several machines at once: none asks for a password or keeps the others waiting."""
_SCRIPT = """\
PATH="$PATH:$HOME/.local/bin:/opt/homebrew/bin:/usr/local/bin"
command -v pcc >/dev/null || exit {missing}
{width}
exec pcc {words}
"""
"""A login by `ssh` reads no profile: where `uv` and `pipx` put commands is often not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a machine answered."""

    host: str
    code: int
    output: str
    """As it was printed there, colours included; if nothing was, what it said of the reason."""
    problem: PerpetualError | None = None
    """Why `pcc` did not run there."""


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
        here = threads.submit(_ask, HERE, _own(options, words))
        there = [threads.submit(_ask, host, _theirs(host, words)) for host in hosts]
        return [one.result() for one in (here, *there)]


def _ask(host: str, command: Sequence[str]) -> Said:
    done = _run(command, stdin=subprocess.DEVNULL, capture_output=True)
    output, errors = (
        text.decode(errors="replace").replace("\r\n", "\n") for text in (done.stdout, done.stderr)
    )
    problem = None if host == HERE else _problem(host, done.returncode, errors)
    told = output or errors
    return Said(host=host, code=done.returncode, output=told, problem=problem)


def _run(command: Sequence[str], **how: Any) -> subprocess.CompletedProcess[bytes]:
    try:
        done: subprocess.CompletedProcess[bytes] = subprocess.run(command, check=False, **how)
    except FileNotFoundError as error:
        raise PerpetualError("There is no ssh here", hint="Install an OpenSSH client") from error
    return done


def _own(options: GlobalOptions, words: Sequence[str]) -> list[str]:
    data = str(options.locations.data)
    return [sys.executable, "-m", "perpetualcc.cli.main", "--data-dir", data, *words]


def _theirs(host: str, words: Sequence[str]) -> list[str]:
    """With a terminal there, as wide as ours, where we have one."""
    columns = terminal_width() if "--json" not in words else None
    width = f"stty cols {columns} 2>/dev/null" if columns else ""
    return ["ssh", "-tt" if columns else "-T", *_UNASKED, "--", host, _line(words, width)]


def _line(words: Sequence[str], width: str = "") -> str:
    """For a login shell of any kind: in these letters none of them sees anything to expand."""
    script = _SCRIPT.format(missing=_NO_PCC, width=width, words=shlex.join(words))
    coded = base64.b64encode(script.encode("utf-8", "surrogateescape")).decode()
    return f"""exec sh -c 'eval "$(printf %s {coded} | base64 --decode)"'"""


def _problem(host: str, code: int, errors: str) -> PerpetualError | None:
    if code == _NOT_REACHED:
        why = one_line(errors).removeprefix("ssh: ")
        told = f"{host!r} is not reached" + (f": {why}" if why else "")
        return PerpetualError(told, hint=f"Mend this first: ssh {host}")
    if code == _NO_PCC:
        hint = f"Install PerpetualCC there, or put pcc on the PATH that this has: ssh {host} env"
        return PerpetualError(f"{host!r} has no pcc", hint=hint)
    return None
