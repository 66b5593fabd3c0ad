"""Identifiers. Short enough to type, random enough never to meet again."""

import secrets
import uuid
from typing import NewType

SessionId = NewType("SessionId", str)
"""A supervised worker in one project: six hexadecimal characters, extended on collision."""

TaskId = NewType("TaskId", str)
"""A unit of work: `t-` and eight hexadecimal characters."""

RunId = NewType("RunId", str)
"""One Claude Code process: `r-` and twelve hexadecimal characters."""

RequestId = NewType("RequestId", str)
"""One thing Claude asked for: the tool use id Claude Code gave it."""

ClaudeSessionId = NewType("ClaudeSessionId", str)
"""Claude Code's own session id, a UUID that we choose before the process starts."""


def new_session_id() -> SessionId:
    return SessionId(secrets.token_hex(3))


def new_task_id() -> TaskId:
    return TaskId(f"t-{secrets.token_hex(4)}")


def new_run_id() -> RunId:
    return RunId(f"r-{secrets.token_hex(6)}")


def new_claude_session_id() -> ClaudeSessionId:
    return ClaudeSessionId(str(uuid.uuid4()))
