"""`pcc learn`: what was learned from corrections, and the machinery that learns it."""

import json
import sys
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Corrected once, remembered for good")


@app.callback()
def _group() -> None:
    """Corrected once, remembered for good."""


@app.command()
def classify(
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Read {id, message, assistant} a line from stdin")
    ] = False,
    message: Annotated[str, typer.Argument(help="One message to judge")] = "",
    assistant: Annotated[str, typer.Option(help="The assistant's message it answers")] = "",
    explain: Annotated[bool, typer.Option(help="Print the features that counted")] = False,
) -> None:
    """Judge whether messages correct the assistant. No model is asked."""
    from perpetualcc.learning.corrections.stream import judge_lines, judge_one  # noqa: PLC0415  # slow to import

    if jsonl:
        for line in judge_lines(sys.stdin.buffer):
            sys.stdout.write(line)
            sys.stdout.flush()
        return
    print(json.dumps(judge_one(message, assistant, explain=explain), ensure_ascii=False, indent=2))
