"""
Giving every chunk its vector, a few at a time, so that it can stop at any moment and go on later.

Meanwhile the words answer.
"""

from collections.abc import Callable

from perpetualcc.knowledge.embeddings import EmbeddingProvider
from perpetualcc.knowledge.ports import ChunkSearch, StoredChunk, VectorIndex

_AT_ONCE = 32
"""Chunks of one transaction: what a kill can lose, a second or two of work."""
_LISTED = 2_000


def embedded_text(chunk: StoredChunk) -> str:
    """What a model is given of a chunk: where it stands, then what it says."""
    return f"{chunk.path} {chunk.symbol}\n{chunk.text}"


def embed_missing(
    chunks: ChunkSearch,
    vectors: VectorIndex,
    embeddings: EmbeddingProvider,
    progress: Callable[[int, int], None],
) -> int:
    """
    Embed every chunk that has no vector yet; how many got one; 0 when another process is at it.

    Raises:
        EmbeddingsUnavailable: the model went away; what was embedded is kept.
    """
    with vectors.embedding() as is_ours:
        return _embed(chunks, vectors, embeddings, progress) if is_ours else 0


def _embed(
    chunks: ChunkSearch,
    vectors: VectorIndex,
    embeddings: EmbeddingProvider,
    progress: Callable[[int, int], None],
) -> int:
    model = embeddings.model
    counts = chunks.counts(model)
    done = 0
    while missing := vectors.without_vectors(model, _LISTED):
        for at in range(0, len(missing), _AT_ONCE):
            part = missing[at : at + _AT_ONCE]
            found = embeddings.embed_batch([embedded_text(chunk) for chunk in part])
            vectors.save_vectors(
                model, {chunk.digest: vector for chunk, vector in zip(part, found, strict=True)}
            )
            done += len(part)
            progress(counts.vectors + done, counts.chunks)
    vectors.forget_other_models(embeddings.models)
    if done:
        vectors.forget_unused()
    return done
