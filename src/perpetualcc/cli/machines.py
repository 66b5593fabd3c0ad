"""`pcc machines`: where else there are sessions, and what they are at."""

import json
from collections import Counter
from typing import Annotated, Any

import typer

from perpetualcc import config
from perpetualcc.cli import completion
from perpetualcc.cli.config import change
from perpetualcc.cli.look import print_json, table
from perpetualcc.cli.options import JsonOption, ListingGroup
from perpetualcc.cli.other_machines import Said, ask_all
from perpetualcc.cli.statuses import standing
from perpetualcc.cli.typist import only_a_person
from perpetualcc.config.file import MachineSettings, load_config
from perpetualcc.domain.errors import PerpetualError

app = typer.Typer(
    help="Other machines that you have sessions on; alone it says what they are at.",
    cls=ListingGroup,
    rich_markup_mode=None,
)

_SETTING = "machines.hosts"
_OVER = ("completed", "stopped")
_OTHER_VERSION = "Its pcc is of another version, and says it otherwise"

HostArgument = Annotated[
    str,
    typer.Argument(
        metavar="HOST",
        help="As behind ssh: a name of your ~/.ssh/config, or USER@HOST",
        autocompletion=completion.machines,
    ),
]


@app.command("list")
def list_machines(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """
    Ask each machine what its sessions are at, and what waits for you there.

    Example: pcc machines
    """
    only_a_person("works on other machines")
    answers = ask_all(ctx.obj, _known(), ["list", "--json"])
    found = [_counts(answer) for answer in answers]
    if as_json:
        print_json(found)
        return
    rows = [[one["machine"], one.get("error") or _in_words(one["sessions"])] for one in found]
    print(table(["Machine", "Sessions"], rows, wrapping={"Sessions"}))
    if len(found) == 1:
        print("No other machine yet: pcc machines add HOST, as you would type it behind ssh")
    else:
        print("To see them: pcc on all list. To work there: pcc on HOST attach SESSION")


@app.command()
def add(ctx: typer.Context, host: HostArgument) -> None:
    """
    Add a machine; it must be reached by ssh without a question, and have pcc.

    Example: pcc machines add alice@build.example.com
    """
    only_a_person("says which machines there are")
    MachineSettings(hosts=(host,))
    answer = ask_all(ctx.obj, [host], ["--version"])[1]
    if answer.problem:
        raise answer.problem
    if answer.code:
        raise PerpetualError(
            f"pcc does not work on {host!r}: {answer.in_short}", hint=f"See: ssh {host}"
        )
    change(config.config_path(), _SETTING, lambda: [*dict.fromkeys([*_known(), host])])
    print(f"Added {host}: {answer.in_short}")


@app.command()
def remove(host: HostArgument) -> None:
    """
    Forget a machine; nothing changes there.

    Example: pcc machines remove box
    """
    only_a_person("says which machines there are")
    if host not in (hosts := _known()):
        known = f"There are: {', '.join(hosts)}" if hosts else "There is none"
        raise PerpetualError(f"{host!r} is none of your machines", hint=known)
    change(config.config_path(), _SETTING, lambda: [one for one in _known() if one != host] or None)
    print(f"Removed {host}")


def _known() -> tuple[str, ...]:
    return load_config().machines.hosts


def _counts(answer: Said) -> dict[str, Any]:
    """How many of its sessions are at what; or the `error`."""
    if answer.problem:
        return {"machine": answer.host, "error": answer.problem.message}
    try:
        sessions = json.loads(answer.output)
    except (ValueError, RecursionError):
        return {"machine": answer.host, "error": answer.in_short}
    try:
        words = [standing(session)[1].lower() for session in sessions]
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"machine": answer.host, "error": _OTHER_VERSION}
    return {"machine": answer.host, "sessions": dict(Counter(words))}


def _in_words(counts: dict[str, int]) -> str:
    """What is not over first."""
    order = sorted(counts, key=lambda word: word in _OVER)
    return ", ".join(f"{counts[word]:,} {word}" for word in order) or "none"
