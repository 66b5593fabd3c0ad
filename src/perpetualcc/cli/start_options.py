"""The options of `pcc start` that no other command has, and which of them make no sense."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.ending import Mistyped
from perpetualcc.domain.folders import canonical, expanded

_BRAINS = ("none", "claude", "gemini", "ollama")
_SANDBOX = ("auto", "on", "off")

RequirementsOption = Annotated[
    Path | None, typer.Option(help="Requirements file (Markdown, YAML or text)")
]
BrainOption = Annotated[
    str | None,
    typer.Option(
        help="none, claude, gemini or ollama [default: the configuration's]",
        autocompletion=completion.one_of(*_BRAINS),
    ),
]
ModelOption = Annotated[str, typer.Option(help="Model of the brain")]
AutoApproveOption = Annotated[
    bool | None,
    typer.Option(
        "--auto-approve/--no-auto-approve",
        help="Let LOW risk through, or ask about it too [default: the configuration's]",
    ),
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option(
        min=0.0, max=1.0, help="Answers below it go to a person [default: the configuration's]"
    ),
]
MaxTurnsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Pause after so many turns; pcc resume goes on for as many [default: unlimited]"
    ),
]
LevelOption = Annotated[
    int, typer.Option(min=1, max=3, help="1 read-only, 2 writes below --writable, 3 full")
]
WritableOption = Annotated[
    list[Path] | None, typer.Option(help="Level 2: what may be written; repeatable")
]
NetworkOption = Annotated[
    bool, typer.Option("--network/--no-network", help="Whether Claude may use the network")
]
ContinueOption = Annotated[
    bool,
    typer.Option("--continue", help="Go on with your last conversation here, in a copy of it"),
]
ResumeOption = Annotated[
    str,
    typer.Option(
        "--resume",
        metavar="ID",
        help="The same with the one of this id, which claude shows when you leave it",
        autocompletion=completion.conversations,
    ),
]
SandboxOption = Annotated[
    str,
    typer.Option(
        help="auto, on or off [default: the configuration's]",
        autocompletion=completion.one_of(*_SANDBOX),
    ),
]
PerpetualOption = Annotated[
    bool, typer.Option("--perpetual", help="Hand over to fresh sessions early: see pcc perpetual")
]


def refuse_idle(brain: str | None, model: str, *, auto_approve: bool | None) -> None:
    """Raises Mistyped for no brain, and for what would change nothing, whatever is hoped for."""
    if brain is not None and brain not in _BRAINS:
        raise Mistyped(f"--brain cannot be {brain!r}", hint=f"It is {', '.join(_BRAINS)}")
    if not model and not auto_approve:
        return
    from perpetualcc.config.file import load_config

    settings = load_config()
    if model and (brain or settings.brain.type) == "none":
        raise Mistyped(
            f"--model {model} is the brain's, and this session has none",
            hint=f"Claude Code's own is --claude-model {shlex.quote(model)}"
            " (a brain's: --brain claude --model …)",
        )
    if auto_approve and not settings.permissions.auto_approve_low_risk:
        raise Mistyped(
            "--auto-approve loosens nothing: permissions.auto_approve_low_risk is off",
            hint="pcc config set permissions.auto_approve_low_risk true",
        )


def checked_sandbox(mode: str) -> str:
    """Raises Mistyped for a word that is none."""
    if mode and mode not in _SANDBOX:
        raise Mistyped(f"--sandbox cannot be {mode!r}", hint="It is auto, on or off")
    return mode


GO_ON = "Go on with what we were doing, until it is done"
"""The task of whoever leaves a conversation to us and says nothing more."""


def conversation_meant(wants_newest: bool, chosen: str) -> str | None:
    """For `session.start`; None: begin afresh. Raises Mistyped where both are said."""
    if wants_newest and chosen:
        raise Mistyped("--continue and --resume are two conversations", hint="Say one of them")
    if chosen:
        return chosen.strip().lower()
    from perpetualcc.daemon.taken_over import NEWEST

    return NEWEST if wants_newest else None


def authority_of(
    project: Path, level: int, writable: list[Path], *, network: bool
) -> dict[str, Any]:
    """What the session may touch. Raises Mistyped where level and places disagree."""
    if (level == 2) != bool(writable):
        raise Mistyped(
            "Level 2 writes below named directories only"
            if level == 2
            else "--writable names what level 2 may write",
            hint="pcc start PROJECT --level 2 --writable DIR --task …",
        )
    root = canonical(project)
    places = [str(canonical(root / expanded(path))) for path in writable]
    return {"level": level, "writable": places, "allow_network": network}
