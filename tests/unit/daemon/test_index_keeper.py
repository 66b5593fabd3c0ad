"""The index follows what a session does, away from its path."""

import asyncio
import functools
from datetime import timedelta

import pytest

from perpetualcc.config.embeddings import embeddings_of
from perpetualcc.config.file import Config
from perpetualcc.daemon import index_keeper
from perpetualcc.daemon.index_keeper import IndexKeeper
from perpetualcc.daemon.library import Library
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import RecordedEvent, ToolDecided, ToolFinished
from perpetualcc.domain.ids import RequestId, SessionId
from perpetualcc.knowledge.settings import KnowledgeSettings, ProviderName
from perpetualcc.store.index.opening import open_pipeline
from tests.fakes.embeddings import LetterEmbeddings

QUIET = timedelta(milliseconds=30)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "till.py").write_text("def check_password(cashier):\n    return cashier\n")
    open_pipeline(tmp_path).index_project()
    return tmp_path


@pytest.fixture
def library():
    library = Library(lambda: None)
    yield library
    library.close()


def used(tool, summary, number=1):
    request = RequestId(f"toolu_{number}")
    session = SessionId("s1")
    return [
        ToolDecided(
            session=session,
            request=request,
            tool=tool,
            summary=summary,
            verdict="allow",
            risk="LOW",
            reason="",
            decided_by="policy",
        ),
        ToolFinished(session=session, request=request, is_error=False),
    ]


async def follow(library, project, events, *, is_wanted=True):
    """Play events and wait until the index has followed."""

    async def log():
        for number, event in enumerate(events):
            yield RecordedEvent(seq=number, at=0.0, event=event)

    async def project_of(_session):
        return project

    await IndexKeeper(library, project_of, is_wanted=is_wanted, quiet=QUIET).run(log())


def plays(test):
    """An `async` test, in a loop of its own."""

    @functools.wraps(test)
    def played(*args, **kwargs):
        asyncio.run(test(*args, **kwargs))

    return played


def known(project, word):
    """What the index holds now, without bringing it up to date."""
    found = open_pipeline(project).retrieve(word, 1)
    return found[0].symbol if found else ""


@plays
async def test_a_file_that_a_session_edited_is_known_without_being_asked_for(library, project):
    await library.refresh(project)
    (project / "till.py").write_text("def zebra_crossing():\n    pass\n")

    await follow(library, project, used("Edit", "till.py"))

    assert known(project, "zebra") == "zebra_crossing"


@plays
async def test_a_command_may_have_changed_anything(library, project):
    (project / "giraffe.py").write_text("def tall_giraffe():\n    pass\n")

    await follow(library, project, used("Bash", "make giraffe"))

    assert known(project, "giraffe") == "tall_giraffe"


@plays
async def test_reading_and_refused_calls_change_nothing(library, project):
    (project / "till.py").write_text("def zebra_crossing():\n    pass\n")
    (refused, _) = used("Edit", "till.py", number=2)

    await follow(library, project, [*used("Read", "till.py"), refused])

    assert known(project, "zebra") == ""


@plays
async def test_nothing_is_done_where_it_is_not_wanted_or_never_was_indexed(library, tmp_path):
    (tmp_path / "till.py").write_text("def zebra():\n    pass\n")

    await follow(library, tmp_path, used("Edit", "till.py"))
    await follow(library, tmp_path, used("Edit", "till.py"), is_wanted=False)

    assert not (tmp_path / ".perpetualcc").exists()


@plays
async def test_a_burst_of_changes_is_read_once(library, project, monkeypatch):
    times = []
    refresh = library.refresh

    async def counted(project, paths=()):
        times.append(set(paths))
        return await refresh(project, paths)

    monkeypatch.setattr(library, "refresh", counted)
    (project / "till.py").write_text("def zebra():\n    pass\n")

    await follow(library, project, [e for n in range(20) for e in used("Edit", "till.py", n)])

    assert times == [{"till.py"}]


@plays
async def test_a_project_is_opened_once_and_answers_several_questions_at_once(project):
    opened = []

    def embeddings():
        opened.append(1)
        return LetterEmbeddings()

    library = Library(embeddings)
    try:
        answers = await asyncio.gather(
            *(library.for_question(project, "where is the password checked?") for _ in range(8))
        )
    finally:
        library.close()

    assert [answer[0].path for answer in answers] == ["till.py"] * 8
    assert len(opened) == 1


@plays
async def test_vectors_are_used_once_they_are_there(project):
    model = LetterEmbeddings()
    pipeline = open_pipeline(project, model)
    pipeline.embed_project()
    library = Library(lambda: model)
    before = model.texts
    try:
        assert await library.for_question(project, "password")
        assert await library.refresh(project) is False
        (project / "new.py").write_text("def another():\n    pass\n")
        assert await library.refresh(project) is True
    finally:
        library.close()

    assert model.texts == before + 1


@plays
async def test_a_model_without_its_key_leaves_the_words(project):
    def embeddings():
        raise PerpetualError("The Gemini key is nowhere")

    library = Library(embeddings)
    try:
        assert await library.for_question(project, "password")
    finally:
        library.close()


def test_the_embeddings_have_the_key_that_the_brain_has(monkeypatch):
    config = Config(knowledge=KnowledgeSettings(embedding_provider=ProviderName.GEMINI))
    monkeypatch.setenv("GEMINI_API_KEY", "k-123")

    found = embeddings_of(config)
    monkeypatch.delenv("GEMINI_API_KEY")

    assert found is not None
    assert found.model == "gemini/gemini-embedding-001"
    with pytest.raises(PerpetualError, match="GEMINI_API_KEY"):
        embeddings_of(config)


def test_an_indexer_that_cannot_be_started_ends_nothing(monkeypatch, caplog):
    monkeypatch.setattr(index_keeper, "at_low_priority", lambda *_: ["/nowhere/python"])

    asyncio.run(index_keeper._play("init", "x"))

    assert "an index is left as it is" in caplog.text
