"""`pcc start` and `pcc attach`: give Claude something to do, and watch it."""

import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc import config
from perpetualcc.cli.budget import of_one_unattended, used_up
from perpetualcc.cli.chosen_requirements import remembered
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.later import (
    AtOption,
    ChecksOption,
    EveryOption,
    MissedOption,
    PlanOption,
    UnattendedOption,
    WhenOption,
    YesOption,
    begins_in_words,
    refuse_other_plans,
    said_alike,
)
from perpetualcc.cli.look import fit, one_line, tell, terminal_width
from perpetualcc.cli.options import (
    TAKES_WORDS,
    ClaudeModelOption,
    DetachOption,
    GlobalOptions,
    LookedAtArgument,
    NameOption,
    ProjectArgument,
    TaskOption,
    WorktreeOption,
    refuse_words,
)
from perpetualcc.cli.session_page import session_panel
from perpetualcc.cli.start_options import (
    GO_ON,
    AutoApproveOption,
    BrainOption,
    ConfidenceOption,
    ContinueOption,
    LevelOption,
    MaxTurnsOption,
    ModelOption,
    NetworkOption,
    PerpetualOption,
    RequirementsOption,
    ResumeOption,
    SandboxOption,
    WritableOption,
    authority_of,
    checked_sandbox,
    conversation_meant,
    refuse_idle,
)
from perpetualcc.cli.takeover import take_over, tell_what_is_not_taken_over
from perpetualcc.cli.which_session import the_session
from perpetualcc.cli.worktree import worktree_of
from perpetualcc.daemon.surroundings import PROGRAMS
from perpetualcc.domain.folders import expanded
from perpetualcc.domain.session_status import ENDED, SessionStatus
from perpetualcc.domain.texts import first_few
from perpetualcc.domain.times import seen

if TYPE_CHECKING:
    from perpetualcc.gateway.client import Client

app = typer.Typer(rich_markup_mode=None)

_JUST_NOW = 60.0
"""Seconds since something was written to a conversation in which somebody may be at work."""
_STILL_OPEN = (
    "That conversation was used a moment ago: this works on in a copy, but in the same files. Let"
    " Claude finish there first, and leave it"
)


@app.command(context_settings=TAKES_WORDS)
def start(  # noqa: PLR0917  # one parameter an option
    ctx: typer.Context,
    project: ProjectArgument = Path(),
    task: TaskOption = None,
    requirements: RequirementsOption = None,
    brain: BrainOption = None,
    model: ModelOption = "",
    auto_approve: AutoApproveOption = None,
    confidence: ConfidenceOption = None,
    claude_model: ClaudeModelOption = None,
    max_turns: MaxTurnsOption = None,
    detach: DetachOption = False,
    level: LevelOption = 3,
    writable: WritableOption = None,
    network: NetworkOption = True,
    sandbox: SandboxOption = "",
    session_name: NameOption = "",
    worktree: WorktreeOption = "",
    unattended: UnattendedOption = False,
    perpetual: PerpetualOption = False,
    at: AtOption = None,
    every: EveryOption = None,
    missed: MissedOption = None,
    when: WhenOption = None,
    check: ChecksOption = None,
    plan: PlanOption = False,
    yes: YesOption = False,
    continue_: ContinueOption = False,
    resume: ResumeOption = "",
) -> None:
    """
    Start a supervised Claude Code session.

    Claude finds the programs of your PATH and of an activated environment. What else you export
    counts at once while no other session works, else after pcc daemon restart. With --worktree,
    sessions of one project do not meet.

    Example: pcc start ./api --task "Build user authentication with JWT"
    """
    refuse_words(ctx, project)
    refuse_idle(brain, model, auto_approve=auto_approve)
    known = None if requirements else _chosen_before(ctx.obj, project)
    continues = conversation_meant(continue_, resume)
    if continues and task is None and requirements is None:
        task = GO_ON
    if task is None and not (requirements := requirements or known):
        raise Mistyped("There is nothing to do", hint='Say what: --task "…" or --requirements FILE')
    begins = said_alike(
        at=at, every=every, missed=missed, when=when, checks=check, plan=plan, yes=yes
    )
    if plan:
        refuse_other_plans(begins, is_perpetual=perpetual, requirements=requirements)
    if continues:
        begins |= {"continues": continues, "begun_in": str(expanded(project).absolute())}
    if worktree:
        project = worktree_of(project, worktree)
    options: dict[str, Any] = {
        "brain": brain,
        "model": model,
        "claude_model": claude_model,
        "auto_approve": auto_approve,
        "confidence": confidence,
        "max_turns": max_turns,
        "sandbox": checked_sandbox(sandbox),
        "authority": authority_of(project, level, writable or [], network=network),
        "perpetual": {} if perpetual else None,
        "requirements": None if known is None else str(known),
    }
    begin(
        ctx.obj,
        project,
        task,
        options,
        requirements=requirements,
        name=session_name or worktree,
        detach=detach,
        unattended=unattended,
        begins=begins,
    )


def _chosen_before(global_options: GlobalOptions, project: Path) -> Path | None:
    """The requirements that `pcc init` was given for the project."""
    known = remembered(global_options.locations, project)
    if known is not None:
        print(f"Requirements: {known} (chosen with pcc init)", file=sys.stderr)
    return known


def _refuse_missing(requirements: Path, project: Path) -> None:
    """Raises Mistyped where only the project has a file of that name: a path is one from here."""
    meant = project / requirements
    if not expanded(requirements).exists() and expanded(meant).is_file():
        raise Mistyped(
            f"There is no {str(requirements)!r} here, but the project has one",
            hint=f"--requirements {shlex.quote(str(meant))}",
        )


def begin(
    global_options: GlobalOptions,
    project: Path,
    task: str | None,
    options: dict[str, Any],
    *,
    requirements: Path | None = None,
    name: str,
    detach: bool,
    unattended: bool = False,
    begins: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Start a session, and watch it unless it is detached or begins later."""
    if task is not None and not task.strip():
        raise Mistyped("The task is empty", hint='Say what to do: --task "…"')
    if requirements is not None:
        _refuse_missing(requirements, project)
    given = {name: value for name, value in options.items() if value is not None}
    is_later = begins.get("due") or begins.get("every") or begins.get("when")
    given["programs"] = config.of_this_terminal(PROGRAMS)
    config.check_config()  # a session keeps some settings as they are when it begins
    take_over(global_options)
    with connect(global_options, is_work=True) as daemon:
        tell_what_is_not_taken_over(global_options)
        session = daemon.call(
            "session.start",
            project=str(expanded(project).absolute()),
            task=task,
            requirements=None if requirements is None else str(expanded(requirements).absolute()),
            name=name,
            options=given,
            unattended=unattended,
            **begins,
        )
        budgets = daemon.call("budget.show")["budgets"]
        is_alone = is_later or unattended
        spent = of_one_unattended(budgets) if is_alone else used_up(budgets)
        for note in filter(None, _notes(daemon, session, name, spent)):
            tell(f"note: {note}")
        if not session["delay"] and used_up(budgets):
            session["delay"] = "waits for a budget that is used up"
    continued = _continued(session.get("continues"))
    if detach or is_later:
        at = begins_in_words(session["resumes_at"], begins.get("when")) if is_later else ""
        print(f"Session started: {session['id']} ({session['name']}){at}{continued}")
        print(f"Attach with: pcc attach {session['id']}")
        return
    print(f"{session_panel(session)}{continued}")
    _watch(global_options, session)


def _continued(conversation: dict[str, Any] | None) -> str:
    """A line about which it is, as the newest may be another than one thinks; empty: none."""
    if conversation is None:
        return ""
    words, used = fit(one_line(conversation["words"]), 60), conversation["used_at"]
    if time.time() - used < _JUST_NOW:
        tell(f"note: {_STILL_OPEN}")
    said = f' "{words}"' if words else ""
    return f"\nGoes on with: {conversation['conversation'][:8]}{said}, last used {seen(used)}"


def _notes(daemon: "Client", session: dict[str, Any], wanted: str, spent: str) -> Iterator[str]:
    """What a person may not expect of the session that begins; empty ones are none."""
    yield from _brought_along(daemon.call("trust.show", project=session["project"]))
    yield _called_otherwise(session["name"], wanted)
    yield spent
    yield _beside(daemon.call("session.list", project=session["project"]), session)


def _called_otherwise(name: str, wanted: str) -> str:
    """A script that goes on with the name it gave would speak to an older session."""
    if not wanted or not name.startswith(f"{wanted}-"):
        return ""
    return f"'{wanted}' is the name of a session that is not over; this one is called '{name}'"


def _beside(near: list[dict[str, Any]], own: dict[str, Any]) -> str:
    """Who else has work here: two that know nothing of each other do some things twice."""
    here = (one for one in near if one["project"] == own["project"])  # and in no worktree of it
    others = [one for one in here if one["id"] != own["id"] and _has_begun(one)]
    if not others:
        return ""
    first = others[0]
    who = f"Session '{first['name']}' ({first['id']})"
    have = f" and {len(others) - 1} more have" if len(others) > 1 else " has"
    return (
        f"{who}{have} unfinished work on the same files. What comes after it:"
        f' pcc add {first["id"]} "…"; what goes on beside it: pcc start --worktree NAME'
    )


def _has_begun(session: dict[str, Any]) -> bool:
    """It works, or goes on as soon as it can: none that only begins later, or has ended."""
    status = SessionStatus(session["status"])
    begins_later = status is SessionStatus.IDLE and (
        session["resumes_at"] is not None or session["delay"].startswith("begins ")
    )
    return status not in ENDED and not begins_later


def _brought_along(brought: dict[str, Any]) -> Iterator[str]:
    """What a person should know: a mistake, and what nobody has seen. Words are just words."""
    from perpetualcc.permissions.policy_file import POLICY_FILE
    from perpetualcc.permissions.trust import INSTRUCTIONS

    mistakes = [str(one["detail"]) for one in brought["surfaces"] if one["what"] == "mistake"]
    yield from map(one_line, (*mistakes, *brought.get("mistakes_above", ())))
    if brought["trusted"]:
        return
    files = {str(one["file"]) for one in brought["surfaces"]} - set(INSTRUCTIONS)
    look = f"pcc trust {shlex.quote(brought['project'])}"
    if others := sorted(files - {POLICY_FILE}):
        what = f"What this project brings along for Claude Code ({one_line(first_few(others))})"
        yield f"{what} does not count until you have looked at it: {look}"
    elif files and not mistakes:
        yield f"{POLICY_FILE} counts only where it is stricter; to look at it: {look}"


@app.command()
def attach(
    ctx: typer.Context,
    session: LookedAtArgument = None,
    tail: Annotated[
        int | None, typer.Option(min=1, help="Show the last N events first [default: 1000]")
    ] = None,
) -> None:
    """
    Watch a session: what it did, then what it does, live.

    Ctrl+C detaches (the session goes on), Ctrl+D stops the session, after a question.

    Example: pcc attach abc123
    """
    with connect(ctx.obj) as daemon:
        found = daemon.call("session.get", session=the_session(daemon, session, "pcc attach"))
    print(f"Attached to session {found['id']} ({found['name']})")
    print("─" * min(41, terminal_width() or 41))
    _watch(ctx.obj, found, tail)


def _watch(options: GlobalOptions, session: dict[str, Any], tail: int | None = None) -> None:
    from perpetualcc.cli.stream import TAIL, Ending, Watcher

    ending = Watcher(options, session["id"], tail=tail or TAIL).watch()
    match ending:
        case Ending.DETACHED if options.staged:
            raise typer.Exit(130)
        case Ending.DETACHED:
            print(f"\nDetached; the session goes on. Attach with: pcc attach {session['id']}")
        case Ending.FAILED:
            raise typer.Exit(1)
        case Ending.FINISHED | Ending.PAUSED | Ending.STOPPED:
            pass
