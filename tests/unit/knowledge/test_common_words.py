"""In a large index common words cost too much to find by, and still count for what is found."""

import pytest

from perpetualcc.knowledge.values import Chunk, ChunkKind, CodeFile, FileStamp
from perpetualcc.store.index import chunk_rows
from perpetualcc.store.index.chunk_rows import ChunkRows
from perpetualcc.store.index.database import IndexDatabase
from perpetualcc.store.index.file_rows import FileRows

CHUNKS = 800


def _words_of(number):
    rare = "okapi " if number in {7, 11} else ""
    middling = "middling " if number % 6 == 0 else "odd "
    common = "common " if number % 7 in {1, 3, 4} else "unlike "
    return f"{rare}{middling}{common}filler{number}"


@pytest.fixture(scope="module")
def chunks(tmp_path_factory):
    """An index in which a hundred rows are what thousands are elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_rows, "_COMMON", 30)
        patch.setattr(chunk_rows, "_ENOUGH_ROWS", 60)
        patch.setattr(chunk_rows, "_LEADING_ROWS", 150)
        yield _filled(tmp_path_factory.mktemp("large"))


def _filled(project):
    database = IndexDatabase(project)
    made = [
        Chunk(
            start=number,
            end=number,
            text=_words_of(number),
            kind=ChunkKind.TEXT,
            words=_words_of(number),
        )
        for number in range(CHUNKS)
    ]
    stamp = FileStamp(mtime_ns=1, size=1, digest="x")
    file = CodeFile(path="a.txt", language="text", stamp=stamp, lines=1, chunks=tuple(made))
    FileRows(database).apply([file])
    rows = ChunkRows(database)
    rows.settle()
    return rows


def _lines(chunks, words, limit=10):
    hits = chunks.search_words(words, limit)
    read = chunks.read_chunks([hit.chunk for hit in hits])
    return [read[hit.chunk].start for hit in hits]


def test_of_two_chunks_with_the_rare_word_the_one_with_the_common_word_too_is_first(chunks):
    assert _lines(chunks, ["okapi", "middling", "common"])[:2] == [11, 7]
    assert chunks.search_words(["okapi", "middling", "common"], 800)[-1].score > 0


def test_a_word_that_nothing_holds_leaves_the_others_to_find(chunks):
    assert _lines(chunks, ["unheardof", "common"])
    assert _lines(chunks, ["common"])


def test_scores_do_not_depend_on_which_way_a_word_was_looked_up(chunks):
    alone = chunks.search_words(["okapi"], 5)
    beside = chunks.search_words(["okapi", "middling", "common"], 5)

    assert beside[1].score == pytest.approx(alone[1].score, rel=0.2)


def test_the_share_of_words_that_a_chunk_holds_is_told(chunks):
    (first, *_) = chunks.search_words(["okapi", "common"], 1)

    assert chunks.share_of(["okapi", "common", "unheardof", "filler"], first.chunk) == 0.5
    assert chunks.share_of([], first.chunk) == 0.0
