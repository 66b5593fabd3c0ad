"""
Sends one message, in a process of its own: `python -m perpetualcc.human.notifications.post`.

Arguments are the schemes it may have to know, so that it can load what they need before it is told
what to send; told nothing at all, it ends.
What to send comes as JSON on standard input, so no address is ever in a process list. How it went
is left in a file, the receipt: it is there even when whoever asked has died meanwhile. The process
ends itself after `LONGEST` seconds, whatever the other side does.
"""

import importlib
import io
import json
import logging
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from perpetualcc.domain.installing import pip_install
from perpetualcc.domain.private_files import write_whole
from perpetualcc.domain.texts import first_line

LONGEST = 30
"""Seconds. After that there will be no receipt any more."""

TAKEN = 3
"""The exit code of a sender whose message was taken and whose receipt cannot be written."""

MISSING = f"Apprise is not installed: {pip_install('perpetualcc[notify]')}"


def main() -> None:
    make_ready(sys.argv[1:])
    told = sys.stdin.read()
    if not told:
        return
    signal.alarm(LONGEST)
    order = json.loads(told)
    outcome = carry_out(order)
    if "receipt" in order:
        try:
            write_whole(Path(order["receipt"]), json.dumps(outcome))
        except OSError:  # a full disk: what was taken must not be sent again and again for it
            sys.exit(1 if outcome["problem"] else TAKEN)


def make_ready(schemes: Sequence[str]) -> None:
    """Load what addresses of these schemes need; what is wrong with them is said when sending."""
    with suppress(Exception):
        for scheme in schemes:
            _plugin(scheme)


def carry_out(order: Mapping[str, Any]) -> dict[str, Any]:
    """Send it. `problem` is empty when it was taken; `permanent`: trying again is no use."""
    if "argv" in order:
        return _show(list(order["argv"]))
    return _send(str(order["url"]), str(order["title"]), str(order["body"]))


def _show(argv: list[str]) -> dict[str, Any]:
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, check=False, timeout=LONGEST / 2
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"problem": f"{argv[0]}: {error}"}
    said = (done.stderr or done.stdout).strip()[:300]
    return {"problem": "" if done.returncode == 0 else said or f"exit code {done.returncode}"}


def _send(url: str, title: str, body: str) -> dict[str, Any]:
    if url.startswith("env:"):
        name = url.removeprefix("env:")[:40]
        unset = f"{name!r} is not set where the daemon was started"
        return {"problem": f"{unset}: export it, then: pcc daemon restart"}
    said = io.StringIO()
    logging.basicConfig(stream=said, level=logging.WARNING, format="%(message)s", force=True)
    try:
        service = _service(url)
    except ImportError:
        return {"problem": MISSING}
    if service is None:
        scheme = url.partition("://")[0][:40]
        return {"problem": f"Apprise does not know this address ({scheme}://…)", "permanent": True}
    was_taken = bool(service.notify(title=title, body=body, body_format="text"))
    return {"problem": "" if was_taken else first_line(said.getvalue(), 300) or "it was not taken"}


def _service(url: str) -> Any:
    """
    Apprise's object for an address; None when it knows none.

    Apprise loads all of its 180 plugins before it looks at an address, which takes a second; only
    the one that is needed takes a tenth. An address that is found in no plugin goes the long way.
    """
    import apprise  # noqa: PLC0415  # an extra, and only this process pays for it

    plugin = _plugin(url.partition("://")[0].lower())
    if plugin is None:
        return apprise.Apprise.instantiate(url, suppress_exceptions=True)
    found = plugin.parse_url(url)
    try:
        return plugin(**found) if found else None
    except TypeError:  # what Apprise's plugins raise for an address they cannot use
        return None


@cache
def _plugin(scheme: str) -> Any:
    """The class for addresses of a scheme; None when no plugin names it."""
    import apprise  # noqa: PLC0415  # as above

    for module in _likely_modules(Path(apprise.__file__).parent / "plugins", scheme):
        for one in vars(importlib.import_module(f"apprise.plugins.{module}")).values():
            is_plugin = isinstance(one, type) and hasattr(one, "app_id")
            if is_plugin and scheme in one.schemas(one):
                return one
    return None


def _likely_modules(folder: Path, scheme: str) -> Iterator[str]:
    """Names of the plugins whose source names a scheme."""
    naming = re.compile(rf"protocol\s*=\s*\(?[^)=]*[\"']{re.escape(scheme)}[\"']")
    for path in sorted(folder.glob("*.py")) + sorted(folder.glob("*/base.py")):
        if naming.search(path.read_text("utf-8")):
            yield path.parent.name if path.name == "base.py" else path.stem


if __name__ == "__main__":
    main()
