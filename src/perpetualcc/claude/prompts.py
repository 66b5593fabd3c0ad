"""
What goes to Claude Code beyond a plain prompt, and what comes back that the SDK leaves out.

Measured on 2.1.332: a message that is sent during a turn waits in a queue of Claude Code's. The
model gets it with the results of the tools at work, inside the same turn; where none is at work,
or the turn ends before, it begins a turn of its own, one for all that wait. An id that is sent with
it comes back in the `user_message_uuids` of the turn that took it in, and stands in the transcript:
as the `uuid` of a message or, of one inside a turn, as the `source_uuid` of an attachment; of
several that began a turn together only the last one's does.
"""

from collections.abc import AsyncIterator
from typing import Any

import claude_agent_sdk as sdk

from perpetualcc.domain.ids import MessageId


async def one(text: str, message: MessageId, *, is_typed: bool = False) -> AsyncIterator[Any]:
    """
    A message with its id, for `ClaudeSDKClient.query`.

    `is_typed`: a word of a person's. A leading `/` would make a command of it: "/v2 is the
    endpoint" is not one, and `/clear` would take the conversation from under the run. Claude Code
    leaves as it is what the program before it composed.
    """
    sent: dict[str, Any] = {
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": None,
        "uuid": message,
    }
    if is_typed:
        sent["origin"] = {"kind": "human"}
    if is_typed and text.startswith("/"):
        sent["client_composed"] = True
    yield sent


async def all_messages(client: sdk.ClaudeSDKClient) -> AsyncIterator[Any]:
    """
    The SDK's messages and, as Claude Code writes it, what became of one that was sent to it: the
    SDK drops that. From an SDK that keeps its reader elsewhere, the messages alone.
    """
    query, parse = getattr(client, "_query", None), _parser()
    if query is None or parse is None:
        async for message in client.receive_messages():
            yield message
        return
    async for data in query.receive_messages():
        if data.get("type") == "command_lifecycle":
            yield data
        elif (message := parse(data)) is not None:
            yield message


def _parser() -> Any:
    try:
        from claude_agent_sdk._internal.message_parser import parse_message  # noqa: PLC0415
    except ImportError:
        return None
    return parse_message


async def interrupt(client: sdk.ClaudeSDKClient) -> None:
    """End the turn, and with it what waits in the queue: it would begin another."""
    query = getattr(client, "_query", None)
    if query is None:
        await client.interrupt()
        return
    asked = {"subtype": "interrupt", "cancel_queued": True}
    await query._send_control_request(asked)  # noqa: SLF001  # the SDK's has no such option
