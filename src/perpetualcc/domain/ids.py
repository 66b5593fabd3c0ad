"""Identifiers. Short enough to type, random enough never to meet again."""

import os
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

MessageId = NewType("MessageId", str)
"""One message to Claude Code: a UUID of ours, by which it is found in the transcript."""


def new_session_id() -> SessionId:
    return SessionId(os.urandom(3).hex())


def new_task_id() -> TaskId:
    return TaskId(f"t-{os.urandom(4).hex()}")


def new_run_id() -> RunId:
    return RunId(f"r-{os.urandom(6).hex()}")


def new_claude_session_id() -> ClaudeSessionId:
    import uuid  # noqa: PLC0415  # a fifth of what `pcc list` imports, for what it never does

    return ClaudeSessionId(str(uuid.uuid4()))


def new_message_id() -> MessageId:
    return MessageId(new_claude_session_id())
