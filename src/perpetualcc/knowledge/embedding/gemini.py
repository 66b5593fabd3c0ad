"""Embeddings from Google's Gemini API. Code leaves this machine: only where a user chose it."""

from collections.abc import Collection, Sequence
from typing import Any

from perpetualcc.knowledge.embedding.http import QUERY_TIMEOUT, post_json, unit_vectors

_DIMENSIONS = 768
_HINT = "Check the Gemini key, or choose another embedding provider"


class GeminiEmbeddings:
    """`EmbeddingProvider` over `models.batchEmbedContents`."""

    def __init__(
        self,
        api_key: str,
        *,
        model: str = "gemini-embedding-001",
        address: str = "https://generativelanguage.googleapis.com",
        timeout: float = 60.0,
        query_timeout: float = QUERY_TIMEOUT,
    ) -> None:
        self._key = api_key
        self._name = model
        self._address = address.rstrip("/")
        self._timeout = timeout
        self._query_timeout = query_timeout

    @property
    def model(self) -> str:
        return f"gemini/{self._name}"

    @property
    def models(self) -> Collection[str]:
        return (self.model,)

    def embed(self, text: str) -> Sequence[float]:
        return self._ask([text], "CODE_RETRIEVAL_QUERY", self._query_timeout)[0]

    def embed_batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return list(self._ask(texts, "RETRIEVAL_DOCUMENT", self._timeout))

    def _ask(self, texts: Sequence[str], task: str, timeout: float) -> list[list[float]]:
        name = f"models/{self._name}"
        requests = [
            {
                "model": name,
                "content": {"parts": [{"text": text}]},
                "taskType": task,
                "outputDimensionality": _DIMENSIONS,
            }
            for text in texts
        ]
        answer = post_json(
            f"{self._address}/v1beta/{name}:batchEmbedContents",
            {"requests": requests},
            headers={"x-goog-api-key": self._key},
            timeout=timeout,
            hint=_HINT,
        )
        found = answer.get("embeddings")
        entries: list[Any] = found if isinstance(found, list) else []
        values = [entry.get("values") if isinstance(entry, dict) else None for entry in entries]
        return unit_vectors(values, len(texts), "Gemini")
