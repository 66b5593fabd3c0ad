"""Tools of ours for a session's Claude, served inside this process."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import claude_agent_sdk as sdk

Tool = Callable[[dict[str, Any]], Awaitable[str]]

OWN_SERVER = "perpetualcc"
"""The tools reach Claude as `mcp__perpetualcc__search_code` and so on."""

_PLAN = {
    "type": "object",
    "required": ["tasks"],
    "properties": {
        "tasks": {
            "type": "array",
            "description": "In an order in which they can be done.",
            "items": {
                "type": "object",
                "required": ["title", "prompt"],
                "properties": {
                    "title": {"type": "string", "description": "A few words, for people."},
                    "prompt": {
                        "type": "string",
                        "description": "All that whoever does it must know: they see this, the"
                        " goal, and a line on what was done before.",
                    },
                    "after": {
                        "type": "array",
                        "items": {"type": "integer"},
                        "description": "Numbers of earlier tasks, from 1, that it builds on.",
                    },
                    "checks": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "Shell commands that succeed, in the project's directory,"
                        " when it is done: its tests, a build, a linter.",
                    },
                },
            },
        }
    },
}
_ABOUT: Mapping[str, tuple[str, dict[str, Any]]] = {
    "search_code": (
        "Search this project's code by meaning and words. Returns files with lines.",
        {"query": str},
    ),
    "related_code": (
        "What is near a file, class or function: imports, callers, definitions.",
        {"entity": str},
    ),
    "propose_plan": (
        "Propose the tasks that reach the goal. The newest plan counts; a person looks at it.",
        _PLAN,
    ),
}


def serve(name: str, tools: Mapping[str, Tool]) -> dict[str, Any]:
    """For the SDK's `mcp_servers`; empty when there are no tools."""
    if not tools:
        return {}
    served = [_served(tool, tools[tool]) for tool in tools]
    return {name: sdk.create_sdk_mcp_server(name=name, version="1", tools=served)}


def _served(name: str, call: Tool) -> Any:
    about, schema = _ABOUT[name]

    @sdk.tool(name, about, schema)
    async def answer(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": await call(given)}]}

    return answer
