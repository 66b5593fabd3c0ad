"""
Text to vectors: the port, and the choice between models (seed 000, Component 7).

Without any model search works on words and the graph; nothing here is needed for it.
"""

import logging
from collections.abc import Collection, Sequence
from typing import Protocol

from perpetualcc.domain.errors import PerpetualError

log = logging.getLogger(__name__)


class EmbeddingsUnavailable(PerpetualError):  # noqa: N818  # errors are named by what happened
    """No model could be asked. What was embedded before is kept, and the rest waits."""


class EmbeddingProvider(Protocol):
    """A model that turns text into vectors of unit length."""

    @property
    def model(self) -> str:
        """Names the model; vectors of different models never meet."""
        ...

    @property
    def models(self) -> Collection[str]:
        """Every model that may answer another time, this one among them."""
        ...

    def embed(self, text: str) -> Sequence[float]:
        """
        The vector of a query.

        Raises:
            EmbeddingsUnavailable: the model cannot be reached or loaded.
        """
        ...

    def embed_batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """
        The vectors of chunks, in the order of the texts; all or none.

        Raises:
            EmbeddingsUnavailable: the model cannot be reached or loaded.
        """
        ...


class HybridEmbeddings:
    """
    The first model that answers, local ones first (seed 000).

    The choice holds for this object's life: vectors of two models do not compare, so falling back
    in the middle of a batch would mix them.
    """

    def __init__(self, *providers: EmbeddingProvider) -> None:
        self._providers = providers
        self._chosen: EmbeddingProvider | None = None

    @property
    def model(self) -> str:
        return self._choice().model

    @property
    def models(self) -> Collection[str]:
        return [provider.model for provider in self._providers]

    def embed(self, text: str) -> Sequence[float]:
        return self._choice().embed(text)

    def embed_batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return self._choice().embed_batch(texts)

    def _choice(self) -> EmbeddingProvider:
        if self._chosen is None:
            self._chosen = self._first_that_answers()
        return self._chosen

    def _first_that_answers(self) -> EmbeddingProvider:
        reasons = []
        for provider in self._providers:
            try:
                provider.embed("probe")
            except EmbeddingsUnavailable as error:
                reasons.append(error.message)
            else:
                log.info("embeddings come from %s", provider.model)
                return provider
        raise EmbeddingsUnavailable(
            "No embedding model can be reached: " + "; ".join(reasons),
            hint="Install `perpetualcc[embed]`, start Ollama, or give a Gemini key",
        )
