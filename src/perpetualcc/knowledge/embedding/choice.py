"""Which model is asked, from the settings. Modules of models that are not asked stay unread."""

from collections.abc import Iterator

from perpetualcc.knowledge.embedding.minilm import MiniLMEmbeddings
from perpetualcc.knowledge.embeddings import EmbeddingProvider, HybridEmbeddings
from perpetualcc.knowledge.settings import KnowledgeSettings, ProviderName


def choose_embeddings(
    settings: KnowledgeSettings, *, gemini_key: str = ""
) -> EmbeddingProvider | None:
    """The provider that the settings name; None where words must do. Asks nobody yet."""
    match settings.embedding_provider:
        case ProviderName.NONE:
            return None
        case ProviderName.LOCAL:
            return next(_local(), None)
        case ProviderName.OLLAMA:
            return _ollama(settings)
        case ProviderName.GEMINI:
            return next(_gemini(gemini_key), None)
        case ProviderName.HYBRID:
            return HybridEmbeddings(*_local(), _ollama(settings), *_gemini(gemini_key))


def _local() -> Iterator[EmbeddingProvider]:
    if MiniLMEmbeddings.is_installed():
        yield MiniLMEmbeddings()


def _ollama(settings: KnowledgeSettings) -> EmbeddingProvider:
    from perpetualcc.knowledge.embedding.ollama import OllamaEmbeddings  # noqa: PLC0415

    return OllamaEmbeddings(settings.local_model, address=settings.ollama_address)


def _gemini(key: str) -> Iterator[EmbeddingProvider]:
    if key:
        from perpetualcc.knowledge.embedding.gemini import GeminiEmbeddings  # noqa: PLC0415

        yield GeminiEmbeddings(key)
