"""What a person may set about knowledge: the `[knowledge]` section of seed 000."""

from dataclasses import dataclass
from enum import StrEnum

from perpetualcc.knowledge.embeddings import EmbeddingProvider, HybridEmbeddings


class ProviderName(StrEnum):
    """Where vectors come from."""

    NONE = "none"
    """Words and graph only."""
    LOCAL = "local"
    """This machine: the extra `perpetualcc[embed]`; without it, words and graph."""
    OLLAMA = "ollama"
    """An Ollama server, on this machine unless told otherwise."""
    GEMINI = "gemini"
    """Google's API. Code leaves this machine."""
    HYBRID = "hybrid"
    """Local first, then Ollama, then the API if there is a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeSettings:
    """How a project's code is understood."""

    embedding_provider: ProviderName = ProviderName.LOCAL
    """Who makes vectors of texts; `none`: words must do."""
    local_model: str = "nomic-embed-text"
    """Ollama's model."""
    ollama_address: str = "http://127.0.0.1:11434"
    """Where Ollama answers."""
    gemini_key: str = ""
    """For the Gemini API."""
    auto_index: bool = True
    """Bring the index up to date when a session starts, and while it works."""


def choose_embeddings(settings: KnowledgeSettings) -> EmbeddingProvider | None:
    """The provider that the settings name; None where words must do. Asks nobody yet."""
    from perpetualcc.knowledge.embedding.gemini import GeminiEmbeddings  # noqa: PLC0415
    from perpetualcc.knowledge.embedding.minilm import MiniLMEmbeddings  # noqa: PLC0415
    from perpetualcc.knowledge.embedding.ollama import OllamaEmbeddings  # noqa: PLC0415

    local = [MiniLMEmbeddings()] if MiniLMEmbeddings.is_installed() else []
    ollama = OllamaEmbeddings(settings.local_model, address=settings.ollama_address)
    gemini = [GeminiEmbeddings(settings.gemini_key)] if settings.gemini_key else []
    match settings.embedding_provider:
        case ProviderName.NONE:
            return None
        case ProviderName.LOCAL:
            return local[0] if local else None
        case ProviderName.OLLAMA:
            return ollama
        case ProviderName.GEMINI:
            return gemini[0] if gemini else None
        case ProviderName.HYBRID:
            return HybridEmbeddings(*local, ollama, *gemini)
