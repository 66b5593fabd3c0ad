"""
Claude as a `Complete`: one question, one structured reply, no tools, no settings, no transcript.

It runs the real Claude Code in an empty directory, so nothing of a project reaches it but what is
in the prompt.
"""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from perpetualcc.brain.completion import Completion
from perpetualcc.brain.port import BrainUnavailable
from perpetualcc.brain.settings import ClaudeSettings
from perpetualcc.claude.layers import DEAF
from perpetualcc.claude.scratch import scratch

# One to think, one to hand in the structured reply, one to mend its form.
_TURNS = 4
_CHECK_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
}


class ClaudeCompletion:
    """One model, through the account or key that Claude Code has."""

    def __init__(
        self, settings: ClaudeSettings, *, environment: Mapping[str, str] | None = None
    ) -> None:
        self._settings = settings
        self._environment = dict(environment or {})

    async def complete(self, system: str, prompt: str, schema: Mapping[str, Any]) -> Completion:
        """See `Complete`."""
        import claude_agent_sdk as sdk  # noqa: PLC0415  # costs a second and 70 MB

        try:
            return _completion(await self._asked(sdk, system, prompt, schema))
        except BrainUnavailable:
            raise
        except Exception as error:  # the SDK raises bare ones, and the disk may be full
            raise BrainUnavailable(
                f"Claude cannot be asked: {_named(error)}", hint="claude --version"
            ) from error

    async def _asked(self, sdk: Any, system: str, prompt: str, schema: Mapping[str, Any]) -> Any:
        with scratch("brain") as empty:
            options = sdk.ClaudeAgentOptions(
                tools=[],
                allowed_tools=[],
                setting_sources=[],
                settings=json.dumps(DEAF),
                strict_mcp_config=True,
                system_prompt=system,
                model=self._settings.model,
                max_turns=_TURNS,
                max_budget_usd=self._settings.max_budget_usd,
                output_format={"type": "json_schema", "schema": dict(schema)},
                cwd=empty,
                env=self._environment,
                extra_args={"no-session-persistence": None},
            )
            return await _result(sdk, sdk.query(prompt=prompt, options=options))

    async def check(self) -> None:
        """One small call."""
        await self.complete("You check a connection.", "Say that you are ready.", _CHECK_SCHEMA)


def _named(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or type(error).__name__


async def _result(sdk: Any, messages: AsyncIterator[Any]) -> Any:
    result = None
    async for message in messages:
        if isinstance(message, sdk.ResultMessage):
            result = message
    return result


def _completion(result: Any) -> Completion:
    if result is None:
        raise BrainUnavailable("Claude ended without a reply")
    if result.is_error or result.subtype != "success":
        status = result.api_error_status
        raise BrainUnavailable(
            f"Claude refuses with {status}" if status else f"Claude failed: {result.subtype}",
            hint="Try again later, or choose another brain",
        )
    if result.structured_output is None:
        raise BrainUnavailable("Claude did not keep to the form")
    used = result.usage or {}
    cached = used.get("cache_creation_input_tokens", 0)  # what was read of it, no budget counts
    return Completion(
        text=json.dumps(result.structured_output),
        input_tokens=used.get("input_tokens", 0) + cached,
        output_tokens=used.get("output_tokens", 0),
        cost_usd=result.total_cost_usd or 0.0,
    )
