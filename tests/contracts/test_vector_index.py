"""What every `VectorIndex` promises: SQLite's, and ChromaDB's where that is installed."""

import importlib.util
import sys

import pytest

from perpetualcc.knowledge.embeddings import EmbeddingsUnavailable, HybridEmbeddings
from perpetualcc.knowledge.rag import RAGPipeline
from perpetualcc.knowledge.settings import KnowledgeSettings, VectorStore
from perpetualcc.store.index.chroma_vectors import ChromaVectors, chroma_notes
from perpetualcc.store.index.chunk_rows import ChunkRows
from perpetualcc.store.index.database import IndexDatabase
from perpetualcc.store.index.file_rows import FileRows
from perpetualcc.store.index.opening import open_pipeline
from perpetualcc.store.index.vector_rows import VectorRows
from tests.fakes.embeddings import LetterEmbeddings

HAS_CHROMA = importlib.util.find_spec("chromadb") is not None
WITH_CHROMA = pytest.param(
    VectorStore.CHROMA,
    marks=[
        pytest.mark.skipif(not HAS_CHROMA, reason="perpetualcc[chroma] is not installed"),
        pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    ],
)
FILES = {
    "aaa.py": "def aaa():\n    aaa = 'aaaaaaaaaaaaaaaaaaaa'\n",
    "bbb.py": "def bbb():\n    bbb = 'bbbbbbbbbbbbbbbbbbbb'\n",
    "ccc.py": "def ccc():\n    ccc = 'cccccccccccccccccccc'\n",
}


@pytest.fixture(params=[VectorStore.SQLITE, WITH_CHROMA])
def store(request):
    return request.param


@pytest.fixture
def project(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).write_text(text)
    return tmp_path


def opened(project, store):
    """The index of a project and its vectors, as a process finds them when it starts."""
    if store is VectorStore.SQLITE:
        database = IndexDatabase(project)
        vectors = VectorRows(database)
    else:
        database = IndexDatabase(project, vectors=chroma_notes(""))
        vectors = ChromaVectors(database, project)
    RAGPipeline(
        project,
        files=FileRows(database),
        chunks=ChunkRows(database),
        vectors=vectors,
        embeddings=None,
        is_secret=lambda _: False,
    ).index_project()
    return vectors


def embed(vectors, model):
    missing = vectors.without_vectors(model.model, 100)
    found = model.embed_batch([chunk.text for chunk in missing])
    vectors.save_vectors(
        model.model, {c.digest: vector for c, vector in zip(missing, found, strict=True)}
    )
    return [chunk.path for chunk in missing]


def test_chunks_are_without_vectors_until_they_are_saved_and_so_after_a_restart(project, store):
    vectors, model = opened(project, store), LetterEmbeddings()

    assert not vectors.has_vectors(model.model)
    assert sorted(embed(vectors, model)) == sorted(FILES)

    for again in (vectors, opened(project, store)):
        assert again.has_vectors(model.model)
        assert again.without_vectors(model.model, 100) == []


def test_the_limit_holds(project, store):
    vectors = opened(project, store)

    assert len(vectors.without_vectors("letters", 2)) == 2


def test_the_nearest_come_first_with_their_cosine(project, store):
    vectors, model = opened(project, store), LetterEmbeddings()
    embed(vectors, model)

    found = vectors.nearest(model.model, model.embed("b" * 50), 2)

    assert found[0].path == "bbb.py"
    assert len(found) == 2
    assert 0.8 < found[0].score <= 1.001
    assert found[0].score > found[1].score


def test_vectors_wait_until_half_of_the_chunks_have_one(project, store):
    vectors, model = opened(project, store), LetterEmbeddings()
    ready = [vectors.is_ready(model.model)]
    for chunk in vectors.without_vectors(model.model, 3):
        vectors.save_vectors(model.model, {chunk.digest: model.embed(chunk.text)})
        ready.append(vectors.is_ready(model.model))

    assert ready == [False, False, True, True]


def test_vectors_of_two_models_never_meet(project, store):
    vectors = opened(project, store)
    embed(vectors, LetterEmbeddings("one"))

    assert not vectors.has_vectors("two")
    assert vectors.nearest("two", LetterEmbeddings().embed("a"), 5) == []
    assert len(vectors.without_vectors("two", 100)) == len(FILES)


def test_a_chunk_that_is_gone_is_not_found_and_equal_content_needs_no_new_vector(project, store):
    vectors, model = opened(project, store), LetterEmbeddings()
    embed(vectors, model)
    (project / "bbb.py").unlink()

    gone = opened(project, store)
    assert [hit.path for hit in gone.nearest(model.model, model.embed("bbb"), 5)].count(
        "bbb.py"
    ) == 0
    (project / "bbb.py").write_text(FILES["bbb.py"])
    back = opened(project, store)

    assert back.without_vectors(model.model, 100) == []
    assert back.nearest(model.model, model.embed("b" * 50), 1)[0].path == "bbb.py"


def test_vectors_of_what_is_gone_are_forgotten_once_they_are_many(project, store):
    vectors, model = opened(project, store), LetterEmbeddings()
    embed(vectors, model)
    for name in ("aaa.py", "bbb.py"):
        (project / name).unlink()
    vectors = opened(project, store)
    vectors.forget_unused()
    (project / "aaa.py").write_text(FILES["aaa.py"])

    assert embed(opened(project, store), model) == ["aaa.py"]


def test_vectors_of_a_model_that_is_no_longer_used_go_once_every_chunk_has_one_of_another(
    project, store
):
    settings = KnowledgeSettings(vector_store=store)
    old, new = LetterEmbeddings("old"), LetterEmbeddings("new")
    first = open_pipeline(project, old, settings)
    first.index_project()
    first.embed_project()
    broken = open_pipeline(project, LetterEmbeddings("new", stop_after=0), settings)
    with pytest.raises(EmbeddingsUnavailable):
        broken.embed_project()
    assert open_pipeline(project, old, settings).counts().vectors == 3

    open_pipeline(project, new, settings).embed_project()

    assert open_pipeline(project, old, settings).counts().vectors == 0
    assert open_pipeline(project, new, settings).counts().vectors == 3
    assert open_pipeline(project, new, settings).retrieve("ccc")[0].file_path == "ccc.py"


def test_vectors_of_a_model_that_may_answer_another_time_stay(project, store):
    settings = KnowledgeSettings(vector_store=store)
    local, remote = LetterEmbeddings("local"), LetterEmbeddings("remote")
    first = open_pipeline(project, remote, settings)
    first.index_project()
    first.embed_project()

    open_pipeline(project, HybridEmbeddings(local, remote), settings).embed_project()

    assert open_pipeline(project, remote, settings).counts().vectors == 3
    assert open_pipeline(project, local, settings).counts().vectors == 3


def test_the_room_of_forgotten_vectors_is_given_back(tmp_path):
    for number in range(100):
        (tmp_path / f"m{number}.py").write_text(f"def animal_{number}():\n    return {number}\n")
    vectors = opened(tmp_path, VectorStore.SQLITE)
    for model in ("one", "two", "three"):
        embed(vectors, LetterEmbeddings(model))
    file = tmp_path / ".perpetualcc/vectors.db"
    before = file.stat().st_size

    vectors.forget_other_models(["three"])

    assert file.stat().st_size <= before / 2


def test_only_one_makes_vectors_at_a_time(project, store):
    first, second = opened(project, store), opened(project, store)

    with first.embedding() as is_first, second.embedding() as is_second:
        assert (is_first, is_second) == (True, False)
    with second.embedding() as is_second:
        assert is_second


def test_a_pipeline_finds_by_words_and_vectors_in_either(project, store):
    pipeline = open_pipeline(project, LetterEmbeddings(), KnowledgeSettings(vector_store=store))
    pipeline.index_project()

    assert pipeline.embed_project() == 3
    assert pipeline.counts().vectors == 3
    assert pipeline.retrieve("ccc")[0].metadata["found_by"] == "words and vectors"


def test_words_answer_when_the_teams_server_does_not(project):
    if not HAS_CHROMA:
        pytest.skip("perpetualcc[chroma] is not installed")
    settings = KnowledgeSettings(
        vector_store=VectorStore.CHROMA, chroma_address="http://127.0.0.1:9"
    )
    pipeline = open_pipeline(project, LetterEmbeddings(), settings)
    pipeline.index_project()

    with pytest.raises(EmbeddingsUnavailable, match="does not answer"):
        pipeline.embed_project()
    assert pipeline.retrieve("ccc")[0].file_path == "ccc.py"


@pytest.mark.skipif(HAS_CHROMA, reason="perpetualcc[chroma] is installed")
def test_without_the_extra_it_says_what_to_install(project):
    settings = KnowledgeSettings(vector_store=VectorStore.CHROMA)
    pipeline = open_pipeline(project, LetterEmbeddings(), settings)
    pipeline.index_project()

    with pytest.raises(EmbeddingsUnavailable) as refused:
        pipeline.embed_project()
    assert refused.value.hint == f"{sys.executable} -m pip install 'perpetualcc[chroma]'"
    assert pipeline.retrieve("ccc")[0].file_path == "ccc.py"
