"""A local model behind Ollama as a `Complete`. The only home of the `ollama` client."""

import asyncio
from collections.abc import Mapping
from typing import Any

from perpetualcc.brain.completion import ANOTHER_FORM, Completion
from perpetualcc.brain.port import BrainUnavailable
from perpetualcc.brain.settings import OllamaSettings
from perpetualcc.domain.installing import pip_install

_WINDOWS = (8_192, 16_384, 32_768, 65_536)
"""Tokens a model is loaded with. Few steps: another one loads it anew. Unasked, Ollama takes 4,096,
and of a longer prompt only the last half of that, without a word."""
_CHARACTERS_PER_TOKEN = 3
_ROOM = 1_024
"""Tokens for the reply."""
_MOST_PER_TOKEN = 6
"""More characters than that, spaces not counted, have no part of a prompt in a token: where they
seem to, some of it was not read."""


class OllamaCompletion:
    """One host, one model. What the model did not read whole, it has no answer to."""

    def __init__(self, settings: OllamaSettings) -> None:
        if not settings.model:
            raise BrainUnavailable(
                "The brain 'ollama' has no model",
                hint="pcc config brain ollama --model deepseek-coder:33b",
            )
        self._settings = settings
        self._ollama = _load()

    async def complete(self, system: str, prompt: str, schema: Mapping[str, Any]) -> Completion:
        """See `Complete`."""
        reply = await self._call(
            "chat",
            model=self._settings.model,
            messages=[
                {"role": "system", "content": system},
                {"role": "user", "content": prompt},
            ],
            format=dict(schema),
            options={"temperature": 0, "num_ctx": _window(system, prompt)},
            stream=False,
        )
        self._refuse_a_part(system, prompt, reply.prompt_eval_count or 0)
        return Completion(
            text=reply.message.content or "",
            input_tokens=reply.prompt_eval_count or 0,
            output_tokens=reply.eval_count or 0,
            is_own=True,
        )

    def _refuse_a_part(self, system: str, prompt: str, tokens: int) -> None:
        """A model may have room for less than it was loaded with: then Ollama cuts, unasked."""
        telling = len("".join((system + prompt).split()))
        if 0 < tokens * _MOST_PER_TOKEN < telling:
            raise BrainUnavailable(
                f"The model {self._settings.model!r} has read only a part: {tokens:,} tokens",
                hint="pcc config brain ollama --model NAME, with a model that reads more",
            )

    async def check(self) -> None:
        """Ask which models the server has."""
        reply = await self._call("list")
        names = [one.model or "" for one in reply.models]
        wanted = self._settings.model
        if wanted not in names and f"{wanted}:latest" not in names:
            raise BrainUnavailable(
                f"Ollama does not have the model {wanted!r}",
                hint=f"ollama pull {wanted}",
            )

    async def _call(self, method: str, **arguments: Any) -> Any:
        client = self._ollama.AsyncClient(
            host=self._settings.host,
            timeout=self._settings.timeout.total_seconds(),
            # What is asked holds the project's code: it goes where the person said.
            follow_redirects=False,
        )
        try:
            return await getattr(client, method)(**arguments)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise self._unavailable(error) from error
        finally:
            await client.close()

    def _unavailable(self, error: Exception) -> BrainUnavailable:
        """The client lets errors of three libraries through; none of them may end a session."""
        status = getattr(error, "status_code", None)
        if status == 404:
            return BrainUnavailable(
                f"Ollama does not have the model {self._settings.model!r}",
                hint=f"ollama pull {self._settings.model}",
            )
        if isinstance(status, int) and status > 0:
            return BrainUnavailable(f"Ollama refuses with {status}", hint="Try again later")
        if isinstance(error, ANOTHER_FORM):
            return BrainUnavailable(
                f"What answers at {self._settings.host} is not Ollama: its reply has another form",
                hint="pcc config set brain.ollama.host http://localhost:11434",
            )
        return BrainUnavailable(
            f"Ollama cannot be reached at {self._settings.host}: {type(error).__name__}",
            hint="ollama serve",
        )


def _window(system: str, prompt: str) -> int:
    """The least that holds a prompt and its reply."""
    wanted = (len(system) + len(prompt)) // _CHARACTERS_PER_TOKEN + _ROOM
    return next((one for one in _WINDOWS if one >= wanted), _WINDOWS[-1])


def _load() -> Any:
    try:
        import ollama  # noqa: PLC0415  # an optional part, and slow to load
    except ImportError as error:
        raise BrainUnavailable(
            "The brain 'ollama' needs the package ollama",
            hint=pip_install("perpetualcc[ollama]"),
        ) from error
    return ollama
