"""Which model is asked, from the settings."""

from perpetualcc.knowledge.embedding.gemini import GeminiEmbeddings
from perpetualcc.knowledge.embedding.minilm import MiniLMEmbeddings
from perpetualcc.knowledge.embedding.ollama import OllamaEmbeddings
from perpetualcc.knowledge.embeddings import EmbeddingProvider, HybridEmbeddings
from perpetualcc.knowledge.settings import KnowledgeSettings, ProviderName


def choose_embeddings(
    settings: KnowledgeSettings, *, gemini_key: str = ""
) -> EmbeddingProvider | None:
    """The provider that the settings name; None where words must do. Asks nobody yet."""
    local = [MiniLMEmbeddings()] if MiniLMEmbeddings.is_installed() else []
    ollama = OllamaEmbeddings(settings.local_model, address=settings.ollama_address)
    gemini = [GeminiEmbeddings(gemini_key)] if gemini_key else []
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
