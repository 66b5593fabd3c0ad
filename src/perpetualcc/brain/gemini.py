"""Google's Gemini API as a `Complete`. The only home of `google-genai`."""

import asyncio
from collections.abc import Mapping
from typing import Any

from perpetualcc.brain.completion import ANOTHER_FORM, Completion
from perpetualcc.brain.port import BrainUnavailable
from perpetualcc.brain.settings import GeminiSettings
from perpetualcc.domain.installing import pip_install

_HINTS = {
    400: "pcc config brain gemini, with a key that is valid",
    401: "pcc config brain gemini, with a key that is valid",
    403: "pcc config brain gemini, with a key that may use this model",
    404: "pcc config brain gemini --model NAME, with a model that exists",
    429: "Wait, or raise the quota of the key",
}

_ADDRESS = "Correct the address, or empty it: pcc config set brain.gemini.base_url …"

_MOST_TOKENS = 8_192
"""Of a reply. Models that think before they answer (2.5) count their thoughts: of 2,048 they left
too little for the answer, which was cut."""


class GeminiCompletion:
    """One key, one model."""

    def __init__(self, settings: GeminiSettings, key: str) -> None:
        self._settings = settings
        self._genai = _load()
        self._key = key

    async def complete(self, system: str, prompt: str, schema: Mapping[str, Any]) -> Completion:
        """See `Complete`."""
        reply = await self._call(
            "generate_content",
            contents=prompt,
            config={
                "system_instruction": system,
                "temperature": 0.0,
                "max_output_tokens": _MOST_TOKENS,
                "response_mime_type": "application/json",
                "response_json_schema": dict(schema),
            },
        )
        used = reply.usage_metadata
        return Completion(
            text=reply.text or "",
            input_tokens=(used and used.prompt_token_count) or 0,
            output_tokens=((used and used.candidates_token_count) or 0)
            + ((used and used.thoughts_token_count) or 0),
        )

    async def check(self) -> None:
        """Ask what the model is: free, and it proves the key, the service and the model."""
        model = await self._call("get")
        if not model.name:  # a reply in another form is no error to the client
            raise _something_else()

    async def _call(self, method: str, **arguments: Any) -> Any:
        client = self._genai.Client(api_key=self._key, http_options=self._options())
        try:
            call = getattr(client.aio.models, method)
            return await call(model=self._settings.model, **arguments)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise self._unavailable(error) from error
        finally:
            await client.aio.aclose()
            client.close()

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            "timeout": int(self._settings.timeout.total_seconds() * 1000),
            # The brain falls back to the rules at once; waiting is the session's business.
            "retry_options": {"attempts": 1},
            # The key would go along, wherever a redirect leads: to httpx or to aiohttp, each has
            # its own word.
            "async_client_args": {"follow_redirects": False, "allow_redirects": False},
        }
        return (
            {**options, "base_url": self._settings.base_url} if self._settings.base_url else options
        )

    def _unavailable(self, error: Exception) -> BrainUnavailable:
        """The client lets errors of three libraries through; none of them may end a session."""
        code = getattr(error, "code", None)
        if isinstance(code, int) and 300 <= code < 400:
            return BrainUnavailable(f"Gemini's address leads elsewhere ({code})", hint=_ADDRESS)
        if isinstance(code, int):
            is_key = code == 401 or "API key" in str(getattr(error, "message", ""))
            what = "the key" if is_key else f"the model {self._settings.model!r}"
            return BrainUnavailable(
                f"Gemini refuses {what} ({code})",
                hint=_HINTS.get(code, "Try again later"),
            )
        if isinstance(error, ANOTHER_FORM):
            return _something_else()
        return BrainUnavailable(
            f"Gemini cannot be reached: {type(error).__name__}",
            hint="Check the network, and base_url if it is set",
        )


def _something_else() -> BrainUnavailable:
    return BrainUnavailable(
        "What answers is not Gemini: its reply has another form",
        hint=_ADDRESS,
    )


def _load() -> Any:
    try:
        from google import genai  # noqa: PLC0415  # an optional part, and slow to load
    except ImportError as error:
        raise BrainUnavailable(
            "The brain 'gemini' needs the package google-genai",
            hint=pip_install("perpetualcc[gemini]"),
        ) from error
    return genai
