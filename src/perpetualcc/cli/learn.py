"""`pcc learn`: the machinery that learns from corrections; what it learned is in `learned`."""

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from perpetualcc.cli import learned
from perpetualcc.cli.ending import leave_after
from perpetualcc.cli.learned import open_library, tell_damaged
from perpetualcc.cli.learning_group import LearningGroup, learning_places
from perpetualcc.cli.look import print_json, printable
from perpetualcc.cli.options import FollowOption, GlobalOptions, JsonOption
from perpetualcc.domain.errors import PerpetualError

if TYPE_CHECKING:
    from perpetualcc.domain.locations import Locations

app = typer.Typer(
    cls=LearningGroup,
    help="Corrected once, remembered for good.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _group() -> None:
    """Corrected once, remembered for good."""


@app.command()
def install() -> None:
    """
    Put the hooks into your Claude Code settings.

    Example: pcc learn install
    """
    from perpetualcc.learning import control
    from perpetualcc.learning.install import install as put

    places = learning_places()
    done = put(places)
    print(
        "The hooks are installed already" if done.was_there else f"Hooks added to {done.settings}"
    )
    if control.running_pid(places) is None:
        print("What they note is read while the daemon runs; where none does: pcc learn restart")


@app.command()
def uninstall() -> None:
    """
    Take the hooks out again, end the worker; the settings are as they were.

    Example: pcc learn uninstall
    """
    from perpetualcc.learning import control
    from perpetualcc.learning.install import is_plugin_enabled
    from perpetualcc.learning.install import uninstall as take
    from perpetualcc.learning.queue import QueueReader

    places = learning_places()
    print("Hooks removed" if take(places) else "No hooks of ours were installed")
    if is_plugin_enabled(places):
        print("The plugin has hooks of its own: claude plugin uninstall pcc@perpetualcc")
    control.stop_for_good(places, say=print)
    if waiting := QueueReader(places).waiting():
        print(f"Events that no worker has read: {waiting:,}, they stay in {places.queue}")


@app.command()
def status(as_json: JsonOption = False) -> None:
    """
    Say whether the worker is healthy, stuck or stopped, and what waits.

    Example: pcc learn status
    """
    from dataclasses import asdict

    from perpetualcc.learning.health import describe, examine

    health = examine(learning_places())
    tell_damaged(open_library())
    if as_json:
        print_json(asdict(health))
    else:
        print(describe(health))


@app.command()
def logs(
    follow: FollowOption = False,
    lines: Annotated[
        int, typer.Option("--tail", "--lines", "-n", min=1, help="Show the last N lines")
    ] = 50,
) -> None:
    """
    Show the worker's log.

    Example: pcc learn logs --follow
    """
    path = learning_places().log
    if not path.exists():
        raise PerpetualError("The worker has not written a log yet", hint="pcc learn restart")
    with path.open(encoding="utf-8", errors="replace") as file:
        print(printable("".join(file.readlines()[-lines:])), end="")
        while follow:
            print(printable(file.readline()), end="", flush=True)
            time.sleep(0.2)


@app.command()
def stop() -> None:
    """
    End the worker until `restart` or `install`; what the hooks capture meanwhile waits.

    Example: pcc learn stop
    """
    from perpetualcc.learning import control

    if not control.stop_for_good(learning_places(), say=print):
        print("No worker runs")


@app.command()
def restart(
    ctx: typer.Context,
    force: Annotated[bool, typer.Option("--force", help="Kill it instead of asking")] = False,
) -> None:
    """
    Stop the worker, if it runs, and start one.

    Example: pcc learn restart
    """
    from perpetualcc.daemon import learning_worker
    from perpetualcc.learning import control

    places, locations = learning_places(), _locations(ctx)
    control.stop(places, force=force, say=print)
    started = learning_worker.command(places, locations)
    control.start(places, started, say=print, mark=learning_worker.mark(locations))


@app.command()
def run(
    ctx: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="End when the queue is empty")] = False,
) -> None:
    """
    Work through the queue in this terminal.

    Example: pcc learn run
    """
    import logging
    import threading

    from perpetualcc.daemon.learning_worker import BrainConfirmation
    from perpetualcc.learning.worker import AnotherWorker, Worker

    logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s")
    try:
        worker = Worker(learning_places(), BrainConfirmation(_locations(ctx)))
        count = worker.run(threading.Event(), once=once)
    except AnotherWorker:
        raise PerpetualError("Another worker is at work", hint="See `pcc learn status`") from None
    print(f"Processed {count:,} events")


@app.command()
def classify(
    message: Annotated[str, typer.Argument(help="One message to judge, else from a pipe")] = "",
    assistant: Annotated[str, typer.Option(help="The assistant's message it answers")] = "",
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Read {id, message, assistant} a line from stdin")
    ] = False,
    explain: Annotated[bool, typer.Option(help="Print the features that counted")] = False,
) -> None:
    """
    Judge whether messages correct the assistant. No model is asked.

    Example: pcc learn classify "no, use pytest instead"
    """
    from perpetualcc.learning.corrections.stream import judge_lines, judge_one

    if jsonl:
        for line in judge_lines(sys.stdin.buffer):
            sys.stdout.buffer.write(line.encode("utf-8", errors="surrogatepass"))
            sys.stdout.buffer.flush()
        return
    message = message or _piped()
    if not message.strip():
        raise typer.BadParameter("give a message, or pipe one in", param_hint="MESSAGE")
    print_json(judge_one(message, assistant, explain=explain))


def _piped() -> str:
    """What somebody pipes in; nothing from a terminal, where nobody knows that we would read."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    return sys.stdin.buffer.read().decode(errors="replace")


def _locations(ctx: typer.Context) -> "Locations":
    options: GlobalOptions = ctx.obj or GlobalOptions()  # `claude-learning` has none
    return options.locations


app.add_typer(learned.app)


def main() -> None:
    """The seed's own command name: `claude-learning status`."""
    from perpetualcc.cli.main import run_alone  # avoids a circle

    leave_after(lambda: run_alone(app, "claude-learning"))


if __name__ == "__main__":
    main()
