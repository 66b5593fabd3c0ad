"""`pcc demo`: one good story on the real Claude Code, with no account and no key."""

import typer

from perpetualcc.cli.look import coloured
from perpetualcc.cli.stage import Stage, staged
from perpetualcc.config import environment
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.rehearsal import load_scenario, shipped_scenario

app = typer.Typer(rich_markup_mode=None)


@app.command()
def demo() -> None:
    """
    Play a real Claude Code session under supervision: no account, no key, nothing left behind.

    Claude Code is the real one; its model is scripted and runs on this machine.

    Example: pcc demo
    """
    scenario = load_scenario(shipped_scenario("demo"))
    with staged(scenario, None, base=environment()) as stage:
        project = f"./{stage.project.name}"
        start = ["start", project, "--requirements", f"{project}/requirements.md"]
        failed = _show(stage, *start, "--session-name", "word-counter")
        failed = _show(stage, "list") or failed
        failed = _show(stage, "status", "word-counter", "--show-decisions") or failed
        if failed or stage.server.mismatches or stage.server.overflows:
            raise PerpetualError(
                "The demo did not go as written: "
                + ("; ".join(stage.server.mismatches) or "see above"),
                hint="Please report it, with the output of: pcc --version",
            )


def _show(stage: Stage, *words: str) -> int:
    shown = " ".join(f'"{word}"' if " " in word else word for word in words)
    print(coloured(f"\n$ pcc {shown}", "bold"), flush=True)
    return stage.pcc(*words)
