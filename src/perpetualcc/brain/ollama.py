"""A local model behind Ollama as a `Complete`. The only home of the `ollama` client."""

import asyncio
from collections.abc import Mapping
from typing import Any

from perpetualcc.brain.completion import Completion
from perpetualcc.brain.port import BrainUnavailable
from perpetualcc.brain.settings import OllamaSettings


class OllamaCompletion:
    """One host, one model."""

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
            options={"temperature": 0},
            stream=False,
        )
        return Completion(
            text=reply.message.content or "",
            input_tokens=reply.prompt_eval_count or 0,
            output_tokens=reply.eval_count or 0,
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
            host=self._settings.host, timeout=self._settings.timeout.total_seconds()
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
        return BrainUnavailable(
            f"Ollama cannot be reached at {self._settings.host}: {type(error).__name__}",
            hint="ollama serve",
        )


def _load() -> Any:
    try:
        import ollama  # noqa: PLC0415  # an optional part, and slow to load
    except ImportError as error:
        raise BrainUnavailable(
            "The brain 'ollama' needs the package ollama",
            hint="pip install 'perpetualcc[ollama]'",
        ) from error
    return ollama
