"""What a person may set about knowledge: the `[knowledge]` section of seed 000."""

from dataclasses import dataclass
from enum import StrEnum

from perpetualcc.domain.addresses import check_address


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


class VectorStore(StrEnum):
    """Where vectors are kept."""

    SQLITE = "sqlite"
    """In the project, beside its index."""
    CHROMA = "chroma"
    """In ChromaDB: the extra `perpetualcc[chroma]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeSettings:
    """How a project's code is understood."""

    embedding_provider: ProviderName = ProviderName.LOCAL
    """Where vectors come from; with `gemini` and `hybrid` code may leave this machine."""
    local_model: str = "nomic-embed-text"
    """Ollama's embedding model."""
    ollama_address: str = "http://127.0.0.1:11434"
    """Where Ollama answers."""
    vector_store: VectorStore = VectorStore.SQLITE
    """Where vectors are kept: `sqlite` or `chroma`."""
    chroma_address: str = ""
    """A team's ChromaDB server, as `http://host:8000`; empty: a folder of the project."""
    auto_index: bool = True
    """Bring the index up to date when a session starts, and while it works."""

    def __post_init__(self) -> None:
        """Raises: PerpetualError for an address that is none."""
        check_address("knowledge.ollama_address", self.ollama_address, "http://127.0.0.1:11434")
        if self.chroma_address:
            check_address("knowledge.chroma_address", self.chroma_address, "http://host:8000")
