"""The model that commands compare past episodes with: the one of the settings."""

from perpetualcc.config.embeddings import embeddings_of
from perpetualcc.config.file import load_config
from perpetualcc.daemon.meanings import Meanings


def configured_meanings() -> Meanings:
    """Nothing is read before the first text is to be understood."""
    return Meanings(lambda: embeddings_of(load_config()))
