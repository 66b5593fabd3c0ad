"""What past episodes mean, by the model that `knowledge` has, which blocks: in threads."""

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perpetualcc.knowledge.embeddings import EmbeddingProvider


class Meanings:
    """`memory.episodic.Embedder`. Each may raise PerpetualError: then words must do."""

    def __init__(self, open_model: "Callable[[], EmbeddingProvider | None]") -> None:
        """`open_model`: called in a thread when the first text is to be understood."""
        self._open = open_model

    async def model(self) -> str:
        return await asyncio.to_thread(lambda: self._provider.model if self._provider else "")

    async def embed(self, text: str) -> Sequence[float]:
        return await asyncio.to_thread(self._known.embed, text)

    async def embed_batch(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return await asyncio.to_thread(self._known.embed_batch, texts)

    @property
    def _known(self) -> "EmbeddingProvider":
        assert self._provider is not None  # noqa: S101  # one with a name is there
        return self._provider

    @cached_property
    def _provider(self) -> "EmbeddingProvider | None":
        return self._open()
