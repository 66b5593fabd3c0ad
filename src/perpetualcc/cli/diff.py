"""`pcc diff`: what has changed in a project since a task, or a session, began."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, printable, steers
from perpetualcc.cli.options import JsonOption, LookedAtArgument
from perpetualcc.cli.snapshots import (
    Chosen,
    TaskArgument,
    chosen,
    commits_told,
    opened,
    recorded,
)

if TYPE_CHECKING:
    from perpetualcc.sessions.snapshots.comparing import Compared
    from perpetualcc.sessions.snapshots.repository import Repository

app = typer.Typer(rich_markup_mode=None)

_PATCH = ("--patch", "--binary", "--src-prefix=a/", "--dst-prefix=b/")
"""What `git apply` takes, whatever the person's settings make of it on a terminal."""
_PLAIN = ("--no-ext-diff", "--no-textconv", "--submodule=short")
"""No program that the repository names is run."""


@app.command()
def diff(
    ctx: typer.Context,
    session: LookedAtArgument = None,
    task: TaskArgument = None,
    stat: Annotated[
        bool, typer.Option("--stat", help="How many lines of which files, and the commits")
    ] = False,
    name_only: Annotated[bool, typer.Option("--name-only", help="Only which files")] = False,
    as_json: JsonOption = False,
) -> None:
    """
    Show what has changed since a session began, new files and commits included.

    With a TASK: since that one began, as far as the next. Where there is no terminal it is a patch
    and nothing else.

    Example: pcc diff shop --stat
    """
    if stat and name_only:
        raise Mistyped("--stat and --name-only are two forms", hint="Say one of them")
    with connect(ctx.obj) as daemon:
        meant = chosen(daemon, session, task, "pcc diff")
    from perpetualcc.sessions.snapshots.comparing import compared

    with opened(meant.snapshot) as (repository, folder):
        two = recorded(meant.snapshot), recorded(meant.until) if meant.until else None
        found = _Difference(meant=meant, found=compared(repository, folder, *two))
        if as_json:
            print_json(found.as_json())
        elif name_only:
            found.show(["--name-only"], [])
        else:
            is_told = stat or steers()
            form = ["--stat"] if stat else ["--patch"] if steers() else _PATCH
            found.show(form, found.heading() if is_told else [])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    meant: Chosen
    found: "Compared"

    def heading(self) -> list[str]:
        since = f"Since {self.meant.called}"
        found = self.found
        return [since, *commits_told(found.commits), *_not_compared(found.left_out), ""]

    def as_json(self) -> dict[str, Any]:
        from perpetualcc.sessions.snapshots.changes import counted

        found, until = self.found, self.meant.until
        return {
            "session": self.meant.session["id"],
            "since": self.meant.snapshot,
            "until": None if until is None else until["name"],
            "top": str(found.repository.top),
            "files": [
                {
                    "name": one.name,
                    "change": one.kind,
                    "added": lines.added,
                    "removed": lines.removed,
                }
                for one, lines in counted(found.repository, found.before, found.after)
            ],
            "commits": [{"id": short, "subject": subject} for short, subject in found.commits],
            "left_out": list(found.left_out),
        }

    def show(self, form: Sequence[str], heading: Sequence[str]) -> None:
        """By git itself, through its pager on a terminal."""
        repository, found = self.found.repository, self.found
        colour = "always" if _is_coloured(repository) else "never"
        pager = _pager(repository) if steers() else ""
        sys.stdout.flush()
        words = ("diff", *_PLAIN, *form, f"--color={colour}")
        command = [*words, found.before, found.after, *repository.here]
        if not pager:
            sys.stdout.write("".join(f"{line}\n" for line in heading))
            sys.stdout.flush()
            repository.shown(command, sys.stdout)
            return
        variables = {"LESS": "FRX", "LV": "-c", **os.environ}
        read, write = os.pipe()
        with subprocess.Popen(["sh", "-c", pager], stdin=read, env=variables) as reader:  # noqa: S607
            os.close(read)
            with suppress(KeyboardInterrupt, BrokenPipeError), os.fdopen(write, "wb") as out:
                out.write("".join(f"{line}\n" for line in heading).encode())
                out.flush()
                repository.shown(command, out)
            _wait(reader)


def _wait(reader: "subprocess.Popen[bytes]") -> None:
    """Ctrl+C is the pager's."""
    while True:
        with suppress(KeyboardInterrupt):
            reader.wait()
            return


def _not_compared(left_out: Sequence[str]) -> list[str]:
    if not left_out:
        return []
    shown = [f"  {printable(one)}" for one in left_out[:5]]
    return ["Not compared:", *shown, *(["  …"] if len(left_out) > 5 else [])]


def _is_coloured(repository: "Repository") -> bool:
    if not steers() or "NO_COLOR" in os.environ:
        return False
    told = repository.asked("config", "--get-colorbool", "color.diff", "true")
    return told.stdout.strip() == b"true"


def _pager(repository: "Repository") -> str:
    """As git chooses it, without what the repository's own settings name. Empty: none."""
    own = os.environ.get("GIT_PAGER")
    for scope in ("--global", "--system"):
        if own is None:
            told = repository.asked("config", scope, "--get", "core.pager")
            own = os.fsdecode(told.stdout).strip() or None
    found = own if own is not None else os.environ.get("PAGER", "less")
    is_there = found != "less" or shutil.which("less")
    return "" if found in {"", "cat"} or not is_there else found
