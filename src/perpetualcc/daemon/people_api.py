"""What clients can ask about people: what waits, answers, notifications."""

import glob
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perpetualcc.daemon.people_desk import PeopleDesk
from perpetualcc.daemon.views import newest_that_fit, rows_for, that_fits
from perpetualcc.domain.escalations import ALWAYS, Escalation, EscalationType
from perpetualcc.domain.events import QuestionAnswered
from perpetualcc.domain.folders import home_of
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.tasks import TaskState
from perpetualcc.domain.tools import WRITERS, Risk, ToolCall
from perpetualcc.gateway.methods import Connection, Method, Params
from perpetualcc.human.answers import AnswerError
from perpetualcc.human.escalation import EscalationQueue, said
from perpetualcc.human.notifications.outbox import Notice
from perpetualcc.permissions.offers import offered_rule
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject, line_of
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.store.escalations import SqliteEscalations
from perpetualcc.store.events import EventLog
from perpetualcc.store.guards import RuleStore
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.sessions import SessionStore


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleApi:
    """A part of the engine's methods."""

    manager: SessionManager
    queue: EscalationQueue
    escalations: SqliteEscalations
    desk: PeopleDesk
    events: EventLog
    rules: RuleStore
    ledger: SqliteLedger
    sessions: SessionStore

    def methods(self) -> Mapping[str, Method]:
        return {
            "escalation.list": Method(
                call=self.list, params={"session": str | None, "limit": int | None}
            ),
            "escalation.count": Method(call=self.count, params={"session": str | None}),
            "escalation.get": Method(call=self.get, params={"number": int}),
            "escalation.respond": Method(
                call=self.respond,
                params={
                    "number": int,
                    "text": str | None,
                    "approve": bool | None,
                    "answers": dict | None,
                    "always": bool | None,
                },
                is_decision=True,
            ),
            "answer.list": Method(
                call=self.answers, params={"session": str | None, "limit": int | None}
            ),
            "notification.list": Method(call=self.notifications, params={"limit": int | None}),
            "notification.test": Method(call=self.test, params={"digest": bool | None}),
        }

    async def list(self, params: Params, _: Connection) -> Any:
        """
        What waits for a person, the most severe first, then the oldest; at most `limit` (100).
        """
        session = await self.manager.id_of(params["session"])
        await self.desk.caught_up()
        waiting = await self.queue.get_pending(session, rows_for(params["limit"]))
        return that_fits([await self._data(one) for one in waiting])

    async def count(self, params: Params, _: Connection) -> Any:
        """How many requests wait for a person."""
        await self.desk.caught_up()
        return await self.escalations.count(await self.manager.id_of(params["session"]))

    async def get(self, params: Params, _: Connection) -> Any:
        """One request with everything a person needs to decide; settled ones too."""
        return that_fits([await self._data(await self.queue.get(params["number"]))])[0]

    async def respond(self, params: Params, connection: Connection) -> Any:
        """
        Answer what waits: `approve` or not, one `text`, or `answers` by question, each as a person
        types it, or `{"own": "2"}` for words that are no option's number; `always` asks for a rule.
        """
        answer = {
            name: params[name]
            for name in ("text", "approve", "answers", "always")
            if params[name] is not None
        }
        await self._check_use(params["number"], answer)
        settled = await self.queue.respond(params["number"], answer, by=connection.client)
        rule = await self._rule_of(settled) if answer.get("always") else None
        return that_fits([{**await self._data(settled), "rule": rule}])[0]

    async def _check_use(self, number: int, answer: Mapping[str, Any]) -> None:
        """
        Raises: AnswerError for an approval that could never count. A rule counts for other tasks.
        """
        if answer.get("always") or not answer.get("approve"):
            return
        if over := await self._over(await self.queue.get(number)):
            raise AnswerError(
                f"Request {number} cannot be approved any more: its task is {over}",
                hint=f"pcc respond {number} seen; or approve it for good: "
                f"pcc respond {number} --always",
            )

    async def _over(self, escalation: Escalation) -> str:
        """What the task of a refused call has come to, where nobody can make that call again."""
        if escalation.request.type is not EscalationType.REVIEW:
            return ""
        state = (await self.ledger.get(escalation.request.task)).state
        return state.value if state in {TaskState.DONE, TaskState.CANCELLED} else ""

    async def _data(self, escalation: Escalation) -> dict[str, Any]:
        its = await self.sessions.get(escalation.request.session)
        return {
            **escalation_data(escalation),
            "deadline": self.queue.refused_at(escalation),
            "name": its.name,
            "project": str(its.project),
            "task_is_over": bool(await self._over(escalation)),
        }

    async def project(self, session: SessionId) -> str:
        """From where its paths are named."""
        return str(await self.sessions.project(session))

    async def answers(self, params: Params, _: Connection) -> Any:
        """
        What Claude asked and was answered, oldest first, in one session or all, with the line or
        the person that each answer rests on; the latest `limit` (100).
        """
        session = await self.manager.id_of(params["session"])
        found = await self.events.tail(
            session,
            rows_for(params["limit"]),
            kinds=[QuestionAnswered.__name__],
        )
        return newest_that_fit(
            [
                {
                    **one.event.data(),
                    "at": one.at,
                    "session": asker,
                    "project": await self.project(asker),
                }
                for one in found
                if (asker := one.event.session)
            ]
        )

    async def _rule_of(self, escalation: Escalation) -> str | None:
        """Make the answer a rule, for exactly this. What it does, or None where none can say it."""
        session = await self.manager.get_session(escalation.request.session)
        rule = rule_from(escalation, session.project)
        if rule is not None:
            await self.rules.add(rule)
        return None if rule is None else rule.explain()

    async def notifications(self, params: Params, _: Connection) -> Any:
        """What was sent to people, newest first, with receipts; at most `limit` (100)."""
        found = await self.desk.receipts(rows_for(params["limit"]))
        return that_fits([notice_data(one) for one in found])

    async def test(self, params: Params, _: Connection) -> Any:
        """
        Send a test through every channel; returns their names. `digest`: what a digest would say of
        the last day, in which something must have happened.
        """
        return await (self.desk.test_digest() if params["digest"] else self.desk.test())


def rule_from(escalation: Escalation, project: Path) -> Rule | None:
    """
    The rule that was offered, or one that lets exactly this call through, in this project. What is
    said in a worktree of Claude Code's holds for its home, and so for all of them.

    Without an offer only commands and files can be named exactly; for anything else a rule would
    say too much.
    """
    home = home_of(project)
    raw, note = escalation.request.raw, f"answered request {escalation.number} with --always"
    made = f"rule-{os.urandom(3).hex()}"
    is_offered = any(option.get("label") == ALWAYS for option in escalation.request.options)
    if is_offered and raw.get("risk") != Risk.HIGH.value:
        return offered_rule(str(raw["kind"]), id=made, project=str(home), note=note)
    found = raw.get("input")
    given: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    tool, path = raw.get("tool"), given.get("file_path") or given.get("notebook_path")
    cwd = Path(raw["cwd"]) if raw.get("cwd") else None
    call = ToolCall(tool=str(tool), input=given, project=project, cwd=cwd)
    if (line := line_of(call, home)) is not None:
        subject, pattern = RuleSubject.LINE, line
    elif tool in WRITERS and isinstance(path, str):
        subject, pattern = RuleSubject.PATH, glob.escape(_below(home, project / path))
    else:
        return None
    return Rule(
        id=made,
        effect=RuleEffect.ALLOW,
        subject=subject,
        pattern=pattern,
        includes_high=True,
        project=str(home),
        note=note,
    )


def _below(home: Path, path: Path) -> str:
    """A path from the project means its worktrees too; one that is in none is named whole."""
    inner = home_of(path)
    return str(inner.relative_to(home)) if inner != path and home in inner.parents else str(path)


def escalation_data(escalation: Escalation) -> dict[str, Any]:
    """A request to a person as clients see it (seed 000, Component 9; seed 002's packet)."""
    request = escalation.request
    return {
        "number": escalation.number,
        "session": request.session,
        "task": request.task,
        "type": request.type.value,
        "severity": request.weight.value,
        "title": request.title,
        "context": request.context,
        "options": [dict(option) for option in request.options],
        "suggestion": request.suggestion,
        "confidence": request.confidence,
        "packet": dict(request.packet),
        "default": default_of(escalation),
        "deadline": request.deadline,
        "raised_at": escalation.raised_at,
        "reminders": escalation.reminders,
        "remind_at": escalation.remind_at,
        "settled_at": escalation.settled_at,
        "settled_by": escalation.settled_by,
        "answer": None if escalation.answer is None else said(escalation.answer),
        "raw": dict(request.raw),
    }


def default_of(escalation: Escalation) -> str:
    """What happens when nobody answers, in words."""
    request = escalation.request
    if request.default is not None and request.default.get("approve") is None:
        return said(request.default)
    if request.deadline is not None:
        return "it is refused at the deadline"
    return _UNANSWERED[request.type]


_UNANSWERED: Mapping[EscalationType, str] = {
    EscalationType.PERMISSION: "it is refused",
    EscalationType.REVIEW: "nothing happens: it was refused",
    EscalationType.ERROR: "the task stays as it is",
    EscalationType.QUESTION: "the session goes on waiting",
}


def notice_data(notice: Notice) -> dict[str, Any]:
    return {
        "id": notice.id,
        "kind": notice.what.kind.value,
        "channel": notice.what.channel,
        "session": notice.what.session,
        "number": notice.what.escalation,
        "title": notice.what.title,
        "body": notice.what.body,
        "state": notice.state.value,
        "attempts": notice.attempts,
        "created_at": notice.created_at,
        "due": notice.due,
        "ended_at": notice.ended_at,
        "problem": notice.problem,
    }
