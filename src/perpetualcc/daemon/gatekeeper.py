"""The gate of this engine: policy, authority, rules and trust, for each session."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perpetualcc.agent.replies import summarize
from perpetualcc.claude.layers import Layers, sandbox_for, why_no_sandbox
from perpetualcc.daemon.habits import Habits, in_words, surer_advice
from perpetualcc.daemon.minds import Minds
from perpetualcc.domain.authority import AuthorityLevel
from perpetualcc.domain.decisions import Advice, Ruling, Verdict
from perpetualcc.domain.errors import PerpetualError, ProjectGoneError
from perpetualcc.domain.folders import home_of, main_tree
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tools import Assessment, Risk, ToolCall
from perpetualcc.permissions.decision_engine import DecisionEngine
from perpetualcc.permissions.project import ProjectStanding, policy_mistakes, with_policy_above
from perpetualcc.permissions.settings import PermissionSettings, SandboxMode
from perpetualcc.permissions.static_rules import ask_rules, deny_rules
from perpetualcc.permissions.trust import (
    Files,
    WatchedFiles,
    content_hash,
    instructions,
    instructions_above,
    is_trusted,
    servers_above,
    surfaces,
)
from perpetualcc.permissions.unreadable import unreadable
from perpetualcc.store.guards import RuleStore, TrustStore


class Guard:
    """What every run is guarded with. `agent.ports.Gatekeeper`."""

    def __init__(
        self,
        settings: PermissionSettings,
        minds: Minds,
        trust: TrustStore,
        rules: RuleStore,
        habits: Habits,
    ) -> None:
        self._settings = settings
        self._habits = habits
        self._minds = minds
        self._trust = trust
        self._rules = rules
        self._files = WatchedFiles()
        self._begun_with: dict[str, Files] = {}
        """What the project brought along when a run began that reads it, by session."""

    @property
    def settings(self) -> PermissionSettings:
        """The configuration's, before any project's own policy."""
        return self._settings

    async def judge(self, call: ToolCall, session: Session) -> Ruling:
        """LOW goes on, MEDIUM to the brain, HIGH to a person; authority and rules stand above."""
        project = await self.standing(session.project)
        settings = project.settings(self._settings)
        if not session.options.auto_approve:
            settings = replace(settings, auto_approve_low_risk=False)
        engine = DecisionEngine(
            settings=settings,
            authority=session.options.authority,
            brain=_SessionBrain(self._minds, session, self._habits),
            rules=await self._rules.all(),
            is_sandboxed=self.is_sandboxed(session),
        )
        analysis, ruling = await engine.rule_on(call)
        return replace(ruling, kind=analysis.assessment().kind)

    async def lets_run(self, command: str, session: Session) -> bool:
        """Whether the rules alone let this session's Claude run it."""
        call = ToolCall(tool="Bash", input={"command": command}, project=session.project)
        judged = await self.judge(call, session)
        return judged.verdict is Verdict.ALLOW and judged.risk is Risk.LOW

    async def standing(self, project: Path) -> ProjectStanding:
        """Looked at each time: an agent that may write in the project may change it at any time."""
        outer = [await self._standing_alone(folder) for folder in with_policy_above(project)]
        return replace(await self._standing_alone(project), above=tuple(outer))

    async def _standing_alone(self, folder: Path) -> ProjectStanding:
        files = self._files.read(folder)
        recorded, home = await self._trust.recorded(folder), home_of(folder)
        at_home = (
            None if home == folder else (self._files.read(home), await self._trust.recorded(home))
        )
        trusted = is_trusted(files, recorded, at_home)
        return ProjectStanding(files=files, trusted=trusted, folder=folder)

    async def outdated(self, session: Session) -> PerpetualError | None:
        """See `agent.ports.Gatekeeper`."""
        # Claude's shell would stand in the home now, and not come back.
        if not os.path.isdir(session.project):  # noqa: PTH112  # False, whatever is wrong
            return ProjectGoneError(session.project)
        begun = self._begun_with.get(session.id)
        if begun is None or self._files.read(session.project) == begun:
            return None
        return PerpetualError(
            "what the project brings along changed, and you trusted it as it was",
            hint=f"Look at it, and say whether it counts: pcc trust '{session.project}'",
        )

    def is_sandboxed(self, session: Session) -> bool:
        """Levels 1 and 2 use the sandbox wherever there is one; level 3 when it is asked for."""
        mode = self._sandbox_mode(session)
        if mode is SandboxMode.OFF or why_no_sandbox():
            return False
        return mode is SandboxMode.ON or session.options.authority.level < AuthorityLevel.FULL

    def _sandbox_mode(self, session: Session) -> SandboxMode:
        return SandboxMode(session.options.sandbox or self._settings.sandbox)

    async def layers(self, session: Session) -> Layers:
        """
        What stands behind the gate in a run of this session.

        Raises:
            PerpetualError: the sandbox is wanted and is not there.
        """
        mode = self._sandbox_mode(session)
        if mode is SandboxMode.ON and (reason := why_no_sandbox()):
            raise PerpetualError(
                f"The sandbox is not available: {reason}",
                hint="Install it, or go without: --sandbox auto",
            )
        project = await self.standing(session.project)
        # Not for one that brings nothing: what appears in it later was seen by nobody.
        reads_project = project.trusted and bool(project.files)
        self._begun_with.pop(session.id, None)
        if reads_project:
            self._begun_with[session.id] = project.files
        settings = project.settings(self._settings)
        return Layers(
            deny=deny_rules(settings),
            ask=ask_rules(settings),
            sandbox=await _sandbox(session, settings) if self.is_sandboxed(session) else None,
            sources=("user", "project", "local") if reads_project else ("user",),
            instructions="" if reads_project else _words(session.project, project.files),
            without_servers=servers_above(session.project, project.files) if reads_project else (),
        )

    async def describe(self, project: Path) -> dict[str, Any]:
        """For `pcc trust`: what would take effect, and whether it does."""
        standing = await self.standing(project)
        # What strangers wrote is read: however long that takes, the loop goes on.
        found = await asyncio.to_thread(surfaces, standing.files)
        return {
            "project": str(project),
            "hash": content_hash(standing.files),
            "trusted": standing.trusted,
            "surfaces": [
                {"file": one.file, "what": one.what, "detail": one.detail} for one in found
            ],
            "mistakes_above": await asyncio.to_thread(_mistakes, standing.above),
        }


def _mistakes(standings: Sequence[ProjectStanding]) -> list[str]:
    """In the policies above a project, which count in it as well."""
    return list(dict.fromkeys(told for one in standings for told in policy_mistakes(one.folder)))


async def _sandbox(session: Session, settings: PermissionSettings) -> Mapping[str, Any]:
    # A home may be on a slow disk, and its folders are looked into.
    closed = await asyncio.to_thread(unreadable, settings, session.project)
    return sandbox_for(session.options.authority, session.project, closed)


def _words(project: Path, files: Files) -> str:
    """What Claude Code would read of the project's `CLAUDE.md` and of those above it."""
    return "\n\n".join(filter(None, (instructions(files), instructions_above(project))))


@dataclass(frozen=True, slots=True)
class _SessionBrain:
    """`permissions.decision_engine.PermissionBrain` with the session's own threshold."""

    minds: Minds
    session: Session
    habits: Habits

    async def evaluate_permission(self, call: ToolCall, assessment: Assessment) -> Advice | None:
        habit = await self.habits.for_call(
            str(main_tree(Path(call.project))), call.tool, summarize(call)
        )
        context = self.minds.context(self.session)
        if habit is not None:
            context = replace(context, memories=(f"This call was {in_words(habit)}",))
        advice = await self.minds.ask(
            self.session, lambda brain: brain.evaluate_permission(call, assessment, context)
        )
        advice = surer_advice(advice, assessment.risk, habit)
        sure = advice.confidence >= self.session.options.confidence
        return advice if sure else replace(advice, confidence=0.0)
