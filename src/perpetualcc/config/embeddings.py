"""The embedding model that the configuration names, with the key that the brain has too."""

from perpetualcc.brain.keys import resolve_key
from perpetualcc.config import environment
from perpetualcc.config.file import Config
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.knowledge.embedding.choice import choose_embeddings
from perpetualcc.knowledge.embeddings import EmbeddingProvider
from perpetualcc.knowledge.settings import ProviderName


def embeddings_of(config: Config) -> EmbeddingProvider | None:
    """
    The model for code; None where words must do. Asks nobody yet.

    Raises:
        PerpetualError: `gemini` is chosen, and its key is nowhere; `hybrid` goes without it.
    """
    settings = config.knowledge
    key = ""
    if settings.embedding_provider in {ProviderName.GEMINI, ProviderName.HYBRID}:
        try:
            key = resolve_key(config.brain.gemini.api_key, environment(), setting="The Gemini key")
        except PerpetualError:
            if settings.embedding_provider is ProviderName.GEMINI:
                raise
    return choose_embeddings(settings, gemini_key=key)
