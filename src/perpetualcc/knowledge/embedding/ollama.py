"""Embeddings from an Ollama server, usually on this machine (seed 000: nomic-embed-text)."""

from collections.abc import Collection, Sequence

from perpetualcc.knowledge.embedding.http import QUERY_TIMEOUT, post_json, unit_vectors

_HINT = "Start it with `ollama serve` and get the model with `ollama pull nomic-embed-text`"


class OllamaEmbeddings:
    """`EmbeddingProvider` over Ollama's `/api/embed`."""

    def __init__(
        self,
        model: str = "nomic-embed-text",
        *,
        address: str = "http://127.0.0.1:11434",
        timeout: float = 60.0,
        query_timeout: float = QUERY_TIMEOUT,
    ) -> None:
        self._name = model
        self._address = address.rstrip("/")
        self._timeout = timeout
        self._query_timeout = query_timeout
        # nomic's models are trained on texts that say what they are for.
        prefixed = model.startswith("nomic-embed")
        self._query = "search_query: " if prefixed else ""
        self._document = "search_document: " if prefixed else ""

    @property
    def model(self) -> str:
        return f"ollama/{self._name}"

    @property
    def models(self) -> Collection[str]:
        return (self.model,)

    def embed(self, text: str) -> Sequence[float]:
        return self._ask([self._query + text], self._query_timeout)[0]

    def embed_batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return list(self._ask([self._document + text for text in texts], self._timeout))

    def _ask(self, texts: list[str], timeout: float) -> list[list[float]]:
        answer = post_json(
            f"{self._address}/api/embed",
            {"model": self._name, "input": texts, "truncate": True},
            headers={},
            timeout=timeout,
            hint=_HINT,
        )
        return unit_vectors(answer.get("embeddings"), len(texts), "Ollama")
