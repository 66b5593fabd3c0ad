"""Vectors: kept by content, made in small steps, and never in the way of words."""

import sqlite3
from contextlib import closing

import pytest

from perpetualcc.knowledge.embedding.choice import choose_embeddings
from perpetualcc.knowledge.embedding.http import post_json
from perpetualcc.knowledge.embeddings import EmbeddingsUnavailable, HybridEmbeddings
from perpetualcc.knowledge.settings import KnowledgeSettings, ProviderName
from perpetualcc.store.index.opening import open_pipeline
from tests.fakes.embeddings import Absent, LetterEmbeddings


@pytest.fixture
def model():
    return LetterEmbeddings()


@pytest.fixture
def embedded(project, model):
    pipeline = open_pipeline(project, model)
    pipeline.index_project()
    pipeline.embed_project()
    return pipeline


def test_every_chunk_gets_a_vector_once(embedded, model):
    counts = embedded.counts()
    asked = model.texts

    assert (embedded.embed_project(), model.texts) == (0, asked)
    assert counts.vectors == counts.chunks > 0


def test_meaning_finds_what_shares_no_word(project, model):
    (project / "src/zzz.py").write_text("zzzz = 'zzzz zzzz zzzz zzzz zzzz zzzz'\n")
    pipeline = open_pipeline(project, model)
    pipeline.index_project()
    before = pipeline.retrieve("zz")
    pipeline.embed_project()

    after = pipeline.retrieve("zz")

    assert before == []
    assert after[0].file_path == "src/zzz.py"
    assert after[0].metadata["found_by"] == "words and vectors"


def test_moved_and_unchanged_code_keeps_its_vectors(embedded, project, model):
    asked = model.texts
    (project / "src/shop/money.py").write_text(
        "\n\ndef round_price(price):\n    return round(price, 2)\n"
    )
    embedded.index_project()

    embedded.embed_project()

    assert model.texts - asked <= 1


def test_a_server_that_stops_in_the_middle_loses_nothing(tmp_path):
    for number in range(100):
        (tmp_path / f"m{number}.py").write_text(f"def animal_{number}():\n    return {number}\n")
    failing = open_pipeline(tmp_path, LetterEmbeddings(stop_after=2))
    failing.index_project()

    with pytest.raises(EmbeddingsUnavailable):
        failing.embed_project()
    kept = failing.counts().vectors
    rest = open_pipeline(tmp_path, LetterEmbeddings()).embed_project()

    assert kept == 64
    assert rest == 36


def test_a_model_that_is_gone_at_search_time_leaves_the_words(embedded, model):
    model.stop_after = 0

    assert embedded.retrieve("check password")[0].file_path == "src/shop/till.py"


def test_a_model_that_is_gone_is_left_alone_for_a_minute_and_then_asked_again(
    embedded, model, monkeypatch
):
    now = 1_000.0
    monkeypatch.setattr("perpetualcc.knowledge.rag.time.monotonic", lambda: now)
    model.stop_after = 0
    embedded.retrieve("check password")
    model.stop_after = None

    meanwhile = embedded.retrieve("check password")
    now += 61.0
    later = embedded.retrieve("check password")

    assert meanwhile[0].metadata["found_by"] == "words"
    assert later[0].metadata["found_by"] == "words and vectors"


def test_vectors_of_another_model_are_not_compared(embedded):
    other = open_pipeline(embedded.project, LetterEmbeddings(model="other"))

    assert other.counts().vectors == 0
    assert other.retrieve("check password")[0].metadata["found_by"] == "words"


def test_the_first_model_that_answers_is_kept(model):
    hybrid = HybridEmbeddings(Absent(), model, Absent())

    assert hybrid.model == model.model
    assert list(hybrid.embed("ab")) == list(model.embed("ab"))


def test_without_any_model_the_reasons_are_told():
    with pytest.raises(EmbeddingsUnavailable, match="nobody home; nobody home") as caught:
        HybridEmbeddings(Absent(), Absent()).embed("x")

    assert "perpetualcc[embed]" in caught.value.hint


def test_embedding_without_a_model_says_what_to_install(project):
    with pytest.raises(EmbeddingsUnavailable) as caught:
        open_pipeline(project).embed_project()

    assert "perpetualcc[embed]" in caught.value.hint


def test_vectors_outlive_the_index_they_were_made_for(embedded, model):
    asked = model.texts
    (embedded.project / ".perpetualcc/index.db").write_bytes(b"broken")
    again = open_pipeline(embedded.project, model)

    again.index_project()

    assert (again.embed_project(), model.texts) == (0, asked)


def test_broken_vectors_are_thrown_away_and_words_answer(embedded, project, model):
    model_texts = model.texts
    del embedded
    (project / ".perpetualcc/vectors.db").write_bytes(b"broken" * 2_000)
    again = open_pipeline(project, model)

    again.index_project()
    found = again.retrieve("check password")
    made = again.embed_project()

    assert found[0].file_path == "src/shop/till.py"
    assert made == model_texts


def test_vectors_of_forgotten_code_do_not_pile_up(embedded, project):
    for round_number in range(4):
        for path in project.rglob("*.py"):
            path.write_text(f"def animal_{round_number}():\n    return {path.name!r}\n")
        embedded.index_project()
        embedded.embed_project()

    counts = embedded.counts()
    with closing(sqlite3.connect(project / ".perpetualcc/vectors.db")) as connection:
        kept = connection.execute("SELECT count(*) FROM vector").fetchone()[0]
    assert counts.vectors == counts.chunks
    assert kept <= 2 * counts.chunks + 1


CHOICES = [
    (ProviderName.NONE, "", None),
    (ProviderName.LOCAL, "", "all-MiniLM-L6-v2-int8-words"),
    (ProviderName.OLLAMA, "", "ollama/nomic-embed-text"),
    (ProviderName.GEMINI, "", None),
    (ProviderName.GEMINI, "key", "gemini/gemini-embedding-001"),
    (ProviderName.HYBRID, "", "all-MiniLM-L6-v2-int8-words"),
]


@pytest.mark.parametrize(("provider", "key", "model"), CHOICES)
def test_the_settings_choose_the_model(provider, key, model):
    chosen = choose_embeddings(KnowledgeSettings(embedding_provider=provider), gemini_key=key)

    assert (chosen.model if chosen else None) == model


@pytest.mark.parametrize("url", ["nowhere/api/embed", "http://[::1/api/embed"])
def test_an_address_that_is_none_does_not_answer_like_one_that_is_down(url):
    with pytest.raises(EmbeddingsUnavailable, match="does not answer"):
        post_json(url, {}, headers={}, timeout=1.0, hint="")
