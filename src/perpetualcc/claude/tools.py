"""Tools of ours for a session's Claude, served inside this process."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import claude_agent_sdk as sdk

Tool = Callable[[dict[str, Any]], Awaitable[str]]

OWN_SERVER = "perpetualcc"
"""The tools reach Claude as `mcp__perpetualcc__search_code` and so on."""

_ABOUT: Mapping[str, tuple[str, dict[str, type]]] = {
    "search_code": (
        "Search this project's code by meaning and words. Returns files with lines.",
        {"query": str},
    ),
    "related_code": (
        "What is near a file, class or function: imports, callers, definitions.",
        {"entity": str},
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
