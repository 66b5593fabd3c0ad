"""The methods about sessions and their tasks, and about the daemon itself."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from perpetualcc import __version__
from perpetualcc.agent.handover.handovers import Handovers
from perpetualcc.brain.settings import BrainSettings
from perpetualcc.daemon import halt
from perpetualcc.daemon.beginnings import BEGINNING, beginning_of, check_plannable
from perpetualcc.daemon.checkpoints import CheckpointKeeper
from perpetualcc.daemon.delays import Delays
from perpetualcc.daemon.held import Held
from perpetualcc.daemon.minds import Minds
from perpetualcc.daemon.options import authority_from, checked_options
from perpetualcc.daemon.state import let_work_go_on
from perpetualcc.daemon.surroundings import for_a_session
from perpetualcc.daemon.taken_over import check_continued, to_go_on_with
from perpetualcc.daemon.views import (
    checkpoint_data,
    session_data,
    task_data,
    that_fits,
)
from perpetualcc.daemon.words_api import WordsApi
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import (
    ApiUnanswered,
    BackgroundAwaited,
    QuestionAnswered,
)
from perpetualcc.domain.folders import canonical
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions
from perpetualcc.domain.tasks import CONTINUES
from perpetualcc.gateway.methods import Connection, Method, Params, one_of
from perpetualcc.requirements import read_requirements
from perpetualcc.sessions.beginnings import check_project
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.progress import list_in_words, todo_items
from perpetualcc.sessions.task_queue import PlannedTask, comes_after_broken
from perpetualcc.store.budget import SqliteBudget
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.events import EventLog
from perpetualcc.store.results import Results
from perpetualcc.store.runs import RunStore
from perpetualcc.work.dispatcher import Dispatcher

_GLANCE = timedelta(milliseconds=50)
"""Between two looks of somebody who watches: no eye sees more."""
_OF_GUARDS = frozenset({".perpetualcc", ".claude"})
"""Names of directories whose files are a person's in every project, and must not be one's own."""
_NOT_PLAIN = frozenset({"authority", "programs", "requirements"})
"""Options that `SessionOptions` does not take as they come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """`session.…`, `task.…` and `daemon.…`."""

    manager: SessionManager
    held: Held
    delays: Delays
    about_words: WordsApi
    events: EventLog
    results: Results
    runs: RunStore
    decisions: DecisionJournal
    dispatcher: Dispatcher
    checkpoints: CheckpointKeeper
    budget: SqliteBudget
    clock: Clock
    handovers: Handovers
    minds: Minds
    defaults: BrainSettings
    locations: Locations

    def methods(self) -> Mapping[str, Method]:
        of_session = {"session": str}
        return {
            "session.start": Method(
                call=self.start,
                params={
                    "project": str,
                    "task": str | None,
                    "requirements": str | None,
                    "name": str | None,
                    "options": dict | None,
                    "continues": str | None,
                    "begun_in": str | None,
                    **BEGINNING,
                },
                is_decision=True,
            ),
            "session.list": Method(
                call=self.list,
                params={"status": str | None, "project": str | None, "limit": int | None},
            ),
            "session.get": Method(call=self.get, params=of_session),
            "session.pause": Method(call=self.pause, params=of_session),
            "session.resume": Method(call=self.resume, params=of_session, is_decision=True),
            "session.stop": Method(call=self.stop, params=of_session),
            "task.add": Method(
                call=self.add,
                params={
                    "session": str,
                    "prompt": str,
                    "priority": int | None,
                    "after": list | None,
                    **BEGINNING,
                },
                is_decision=True,
            ),
            "task.stop": Method(call=self.stop_task, params={"session": str, "task": str}),
            "daemon.info": Method(call=self.info),
            "daemon.go_on": Method(call=self.go_on, is_decision=True),
        }

    async def start(self, params: Params, _: Connection) -> Any:
        """
        Create a session with its first tasks, and start it. `options` are those of `pcc start`:
        `brain`, `model`, `sandbox`, `requirements` (that answer, beside a `task`): texts;
        `claude_model`: text; `auto_approve`: true or false; `confidence`: number; `max_turns`:
        whole number; `authority`: object of `level`, `writable`, `allow_network`; `perpetual`:
        object of the options of `pcc perpetual`, with `_` for `-`. `unattended`: as `pcc start`
        says; `due`: not before that time, in seconds of the epoch, and then unattended; `every` and
        `missed`: again and again, as `pcc start --every` says; `when`: once this command succeeds;
        `checks`: commands that prove each task done; `plan`: cut it into tasks first, and `ask` a
        person whether they are begun, or begin them `alone`. `continues`: go on with a copy of this
        conversation of a person's with Claude Code, by its id, or the `newest` in the folder
        `begun_in` (`project`); with what tells it apart. With its `delay`.
        """
        project = self._project(params["project"])
        options = checked_options(params["options"] or {})
        task, requirements = params["task"], params["requirements"]
        if options.get("perpetual") is not None:
            options["perpetual"], words = await self.handovers.plan_start(
                project, options["perpetual"]
            )
            task = task if task or requirements else words
        plan = plan_of(task, requirements)
        if params["every"] and len(plan) > 1:
            raise PerpetualError(
                f"--every repeats one task, and these are {len(plan)}",
                hint='Say it as one: --task "…"',
            )
        is_perpetual = options.get("perpetual") is not None
        check_plannable(params, is_perpetual=is_perpetual, requirements=requirements)
        check_continued(params, len(plan))
        begins, continues = beginning_of(params, self.clock.now()), None
        if word := params["continues"]:
            begun_in = canonical(Path(params["begun_in"] or project))
            ours = await self.runs.conversations()
            theirs, continues = await to_go_on_with(word, begun_in, ours)
            begins["payload"][CONTINUES] = asdict(theirs)
        session = await self.manager.create_session(
            project,
            plan,
            name=params["name"] or "",
            options=self._options(options, requirements),
            **begins,
        )
        self._let_work_go_on()
        seen = await self._seen(session)
        return {**session_data(seen), "delay": await self._delay(seen), "continues": continues}

    def _project(self, path: str) -> Path:
        """Raises PerpetualError for one that cannot be worked in, or is our own."""
        project = check_project(Path(path))
        data = canonical(self.locations.data)
        if project == data or data in project.parents:
            raise PerpetualError(
                f"'{project}' is where PerpetualCC keeps its own state",
                hint="Work in another directory",
            )
        if project.name.lower() in _OF_GUARDS:
            raise PerpetualError(
                f"'{project}' holds the settings that sessions are guarded by",
                hint="Work in the directory that it is for, or in another",
            )
        return project

    def _options(self, given: dict[str, Any], requirements: str | None) -> SessionOptions:
        """What was given, with the configuration's defaults. A brain must be there to be used."""
        configured = {
            "brain": self.defaults.type.value,
            "confidence": self.defaults.confidence_threshold,
        }
        options = SessionOptions(
            **{**configured, **{k: v for k, v in given.items() if k not in _NOT_PLAIN}},
            programs=for_a_session(given.get("programs") or {}, self.locations.programs),
            authority=authority_from(given.get("authority") or {}),
            # In the options they are to be known, and not a list of tasks.
            requirements=requirements or str(given.get("requirements") or ""),
        )
        self.minds.check(options)
        return options

    async def list(self, params: Params, _: Connection) -> Any:
        """
        Sessions: what is alive, then what stopped working, then what is over, each the newest
        first; with its current `task`, and its `delay`: what outside it holds it up; at most
        `limit` (100).
        """
        status, project = params["status"], params["project"]
        wanted = None if status is None else one_of(SessionStatus, status)
        found = await self.manager.list_sessions(
            statuses=self.held.asked_for(wanted),
            project=None if project is None else Path(project),
            limit=max(1, params["limit"] or 100),
        )
        sessions = await self.held.shown(found, wanted)
        prompts = await self.manager.current_prompts(sessions)
        ids = [session.id for session in sessions]
        spent, refused = await self.budget.of_sessions(ids), await self.decisions.refused(ids)
        taken = await self.results.taken(ids)
        listed = [
            {
                **session_data(session),
                "task": prompts.get(session.id, ""),
                "delay": await self._delay(session),
                "spent": _spent(spent, session.id),
                "refused": refused.get(session.id, 0),
                # Ten thousand are one answer: of most there is nothing to say.
                **({"is_taken": True} if session.id in taken else {}),
            }
            for session in sessions
        ]
        return that_fits(listed)

    async def _delay(self, session: Session) -> str:
        if session.status not in {SessionStatus.IDLE, SessionStatus.PROCESSING}:
            return ""
        return self.delays.why(session, await self.manager.queue(session.id).pending())

    async def _seen(self, session: Session) -> Session:
        """As people see it; one that waits for the API, or for work in the background, says so."""
        [seen] = await self.held.shown([session])
        if seen.status is SessionStatus.PROCESSING and not seen.detail:
            newest = await self.events.tail(session.id, 1)
            if newest and isinstance(newest[0].event, ApiUnanswered | BackgroundAwaited):
                return replace(seen, detail=newest[0].event.text)
        return seen

    async def get(self, params: Params, _: Connection) -> Any:
        """
        One session, with its tasks, its runs and what they used, and what was decided; the texts
        of a queue that is too long for one answer are cut.
        """
        session = await self.manager.get_session(params["session"])
        spent = await self.budget.of_sessions([session.id])
        tasks = await self.manager.queue(session.id).everything()
        seen = await self._seen(session)
        delay = self.delays.why(seen, tasks)
        found = {
            **session_data(replace(seen, detail=delay or seen.detail)),
            "delay": delay,
            "tasks": [task_data(task) for task in tasks],
            "runs": await self.runs.count(session.id),
            "spent": _spent(spent, session.id),
            "conversation": session.claude_session,
            "counts": await self.decisions.counts(session.id),
            "refused": (await self.decisions.refused([session.id])).get(session.id, 0),
            "is_taken": bool(await self.results.taken([session.id])),
            "answered": await self._answered(session.id),
            "words": await self.about_words.unheard(session),
            "checkpoints": [
                checkpoint_data(one) for one in await self.checkpoints.list(session.id)
            ],
            "todo": list_in_words(todo_items(await self.decisions.todo_calls(session.id))),
            "iteration": await self.handovers.number(session),
        }
        return that_fits([found])[0]

    async def _answered(self, session: SessionId) -> dict[str, int]:
        """How many of its latest 1,000 questions were answered by whom."""
        found = await self.events.tail(session, 1000, kinds=[QuestionAnswered.__name__])
        return dict(Counter(str(one.event.data()["decided_by"]) for one in found))

    async def pause(self, params: Params, _: Connection) -> Any:
        """Stop after the current operation; the work stays."""
        with halt.offered():
            return session_data(await self.manager.pause_session(params["session"]))

    async def resume(self, params: Params, _: Connection) -> Any:
        """Go on with a paused session, try again what failed, or begin what was for later."""
        resumed = await self.manager.resume_session(params["session"])
        self._let_work_go_on()
        return session_data(await self._seen(resumed))

    async def stop(self, params: Params, _: Connection) -> Any:
        """End a session for good: its tasks are cancelled, its run stops now."""
        with halt.offered():
            return session_data(await self.manager.stop_session(params["session"]))

    async def add(self, params: Params, _: Connection) -> Any:
        """
        Add a task to a queue; `after`: tasks by their number in `tasks` of `session.get`, counted
        from 1, or by how their ids or texts begin; `due`: not
        before that time, in seconds of the epoch, and then unattended; `every` and `missed`: again
        and again, as `pcc add --every` says; `when`: once this command succeeds; `checks`: commands
        that prove it done; `plan`: cut it into tasks first, as of `session.start`.
        """
        session = await self.manager.get_session(params["session"])
        check_plannable(params, is_perpetual=session.options.perpetual is not None)
        task = await self.manager.add_task(
            session.id,
            params["prompt"],
            priority=params["priority"] or 0,
            after=[str(name) for name in params["after"] or []],
            **beginning_of(params, self.clock.now()),
        )
        self._let_work_go_on()
        return task_data(task)

    async def stop_task(self, params: Params, _: Connection) -> Any:
        """
        Give up one task of a queue, by what `after` of `task.add` takes; one that is at work stops
        now. With `parts`: what its plan had left, given up with it; and `left_out`: what comes
        after any of these and is not done for that.
        """
        with halt.offered():
            given_up = await self.manager.stop_task(params["session"], params["task"])
        task, parts = given_up[0], [one.id for one in given_up[1:]]
        tasks = await self.manager.queue(SessionId(task.group)).everything()
        left_out = [
            one.id
            for one in tasks
            if comes_after_broken(one) and (one.packet or {}).get("task") in {task.id, *parts}
        ]
        return {**task_data(task), "parts": parts, "left_out": left_out}

    async def info(self, _params: Params, _: Connection) -> Any:
        """The engine's version, what runs in each lane, and its clock."""
        return {
            "version": __version__,
            "running": {lane.value: count for lane, count in self.dispatcher.running.items()},
            "time": time.time(),
        }

    async def go_on(self, _params: Params, _: Connection) -> Any:
        """Begin work again after a person stopped the daemon; so does every new piece of work."""
        self._let_work_go_on()
        return {}

    def _let_work_go_on(self) -> None:
        let_work_go_on(self.locations)
        self.dispatcher.wake()


def _spent(spent: Mapping[SessionId, tuple[int, float]], session: SessionId) -> dict[str, Any]:
    tokens, usd = spent.get(session, (0, 0.0))
    return {"tokens": tokens, "usd": usd}


def plan_of(task: str | None, requirements: str | None) -> list[PlannedTask]:
    """What a session is to do: the task first, then what the requirements list as not done."""
    plan = [] if task is None else [PlannedTask(prompt=task)]
    if requirements is None:
        return plan
    open_tasks = [one for one in read_requirements(Path(requirements)).tasks if not one.done]
    place = {one.id: len(plan) + i for i, one in enumerate(open_tasks)}
    plan += [
        PlannedTask(
            prompt=one.description,
            priority=one.priority,
            after=tuple(place[name] for name in one.depends_on if name in place),
        )
        for one in open_tasks
    ]
    if not plan:
        raise PerpetualError(
            f"'{requirements}' lists no task that is not done",
            hint='List them under "## Tasks", or say what to do with --task "…"',
        )
    return plan
