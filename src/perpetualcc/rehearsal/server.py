"""The scripted model's server: loopback only, in an asyncio loop or as a process."""

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.rehearsal.director import Caller, Cue, Director
from perpetualcc.rehearsal.http import Request, serve_connection
from perpetualcc.rehearsal.position import tool_id
from perpetualcc.rehearsal.records import (
    Conversation,
    Recorded,
    Records,
    append_record,
    read_records,
    without_secrets,
)
from perpetualcc.rehearsal.scenario import Scenario
from perpetualcc.rehearsal.wire import (
    Answer,
    error_answer,
    failure_answer,
    json_answer,
    reply_answer,
)

_DEFAULT_MODEL = "claude-sonnet-4-5"
_HEAD_LIMIT = 256 * 1024


class RehearsalServer:
    """
    Plays one scenario on a loopback port for as long as it is entered.

    `requests`, `conversations`, `mismatches` and `overflows` say what happened; they may be
    read while it plays and after it ended.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        port: int = 0,
        record: Path | None = None,
        pace: float = 1.0,
    ) -> None:
        self.scenario = scenario
        self._records = Records()
        self._port = port
        self._record_file = record
        self._director = Director(scenario, pace=pace)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        """What goes into `ANTHROPIC_BASE_URL`."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def requests(self) -> list[Recorded]:
        """Every request to `/v1/messages`, in order."""
        return self._records.requests

    @property
    def conversations(self) -> list[Conversation]:
        """The scripted requests, by session and scene."""
        return self._records.conversations()

    @property
    def mismatches(self) -> list[str]:
        """Every `expect` that was not met, with file and line."""
        return [text for one in self.requests for text in one.mismatches]

    @property
    def overflows(self) -> list[Recorded]:
        """Requests for which the script had nothing."""
        return [one for one in self.requests if one.told == "overflow"]

    async def __aenter__(self) -> Self:
        if self._record_file is not None:
            for record in read_records(self._record_file):
                self._director.recall(record)
        try:
            self._server = await asyncio.start_server(
                self._connected, "127.0.0.1", self._port, limit=_HEAD_LIMIT
            )
        except OSError as error:
            raise PerpetualError(
                f"Cannot listen on port {self._port}: {error.strerror}",
                hint="Port 0 takes a free one",
            ) from error
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
            for writer in list(self._writers):
                writer.transport.abort()
            await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            await serve_connection(reader, writer, self._answer)
        except asyncio.CancelledError:
            pass  # the loop ends in mid-answer; nobody waits for this task but the loop's own log
        finally:
            self._writers.discard(writer)

    async def _answer(self, request: Request) -> Answer:
        route = {
            "/v1/messages": self._play,
            "/v1/messages/count_tokens": self._count_tokens,
        }.get(request.path)
        if route is None or request.method != "POST":
            return error_answer(404, "not_found_error", f"Nothing at {request.path}")
        return route(request)

    def _count_tokens(self, request: Request) -> Answer:
        fixed = self.scenario.count_tokens
        return json_answer(
            {"input_tokens": max(1, len(request.raw) // 4) if fixed is None else fixed}
        )

    def _play(self, request: Request) -> Answer:
        body = request.json()
        messages = body.get("messages")
        if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
            return error_answer(400, "invalid_request_error", "messages: Field required")
        if not messages:
            return error_answer(400, "invalid_request_error", "messages: at least one is required")
        caller = Caller(
            session=session_id(request.headers, body),
            agent=request.headers.get("x-claude-code-agent-id", ""),
        )
        cue = self._director.cue(body, caller)
        record = self._record(request, caller, cue)
        model = str(body.get("model", _DEFAULT_MODEL))
        message_id = f"msg_01rehearsal{record.number:08}"
        if cue.refusal is not None:
            return failure_answer(
                cue.refusal.failure,
                resets_at=cue.refusal.resets_at,
                model=model,
                message_id=message_id,
            )
        streams = bool(body.get("stream"))
        ids = self._tool_ids(cue)
        return reply_answer(cue.reply, ids, model=model, message_id=message_id, streams=streams)

    def _tool_ids(self, cue: Cue) -> list[str]:
        if cue.scene is None or cue.step is None:
            return []
        scene, calls = self._director.number_of(cue.scene), range(len(cue.reply.tools))
        return [tool_id(scene, cue.step, call) for call in calls]

    def _record(self, request: Request, caller: Caller, cue: Cue) -> Recorded:
        record = Recorded(
            number=len(self.requests) + 1,
            at=time.time(),
            path=request.path,
            headers=without_secrets(request.headers),
            raw=request.raw,
            news=cue.fresh,
            session=caller.session,
            scene=cue.scene.name if cue.scene else None,
            step=cue.step,
            told=cue.told,
            failure=cue.refusal.number if cue.refusal else None,
            resets_at=cue.refusal.resets_at if cue.refusal else 0.0,
            mismatches=cue.mismatches,
        )
        self._records.add(record)
        if self._record_file is not None:
            append_record(self._record_file, record)
        return record


def session_id(headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
    """Claude Code's session id, from its header or the request's metadata."""
    named = headers.get("x-claude-code-session-id")
    if named:
        return named
    user = str((body.get("metadata") or {}).get("user_id", ""))
    try:
        return str(json.loads(user)["session_id"])
    except (ValueError, KeyError, TypeError):
        return user.rpartition("_session_")[2]
