"""A project is indexed, kept up to date, and answers."""

import itertools
import json
import os
import shutil
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.knowledge import updating
from perpetualcc.knowledge.indexer import CodebaseIndexer
from perpetualcc.knowledge.rag import RAGPipeline
from perpetualcc.store.index.chunk_rows import ChunkRows
from perpetualcc.store.index.database import IndexDatabase
from perpetualcc.store.index.file_rows import FileRows
from perpetualcc.store.index.opening import open_pipeline
from perpetualcc.store.index.vector_rows import VectorRows


def files(pipeline, query, count=10):
    return [result.file_path for result in pipeline.retrieve(query, count)]


def index_of(project):
    return project / ".perpetualcc/index.db"


def test_code_comes_before_its_documents_and_tests(pipeline):
    found = pipeline.retrieve("where is the password of a cashier checked?")

    assert [result.file_path for result in found][:3] == [
        "src/shop/till.py",
        "README.md",
        "tests/test_till.py",
    ]
    assert found[0].symbol == "check_password"
    assert 0 < found[1].score < found[0].score <= 1
    assert found[0].chunk_text.startswith("def check_password(cashier):")


def test_camel_case_snake_case_and_plain_words_meet(pipeline, project):
    (project / "web.js").write_text("function parseCookieHeader(text) { return text; }\n")
    pipeline.index_project()

    for query in ("parseCookieHeader", "parse_cookie_header", "how is a cookie header parsed"):
        assert files(pipeline, query)[0] == "web.js"


def test_an_edited_a_new_a_renamed_and_a_deleted_file_are_known_at_once(pipeline, project):
    (project / "src/shop/money.py").write_text("def zebra_price():\n    pass\n")
    (project / "src/giraffe.py").write_text("def giraffe():\n    pass\n")
    (project / "src/main.py").rename(project / "src/elephant.py")
    (project / "README.md").unlink()

    report = pipeline.index_project()

    assert (report.changed, report.gone) == (3, 2)
    assert files(pipeline, "zebra")[0] == "src/shop/money.py"
    assert files(pipeline, "giraffe")[0] == "src/giraffe.py"
    assert "src/elephant.py" in files(pipeline, "run")
    assert files(pipeline, "round") == ["src/shop/till.py"]
    assert "README.md" not in files(pipeline, "shop cashier password")


def test_the_number_of_chunks_is_that_of_the_last_change(pipeline, project):
    before = pipeline.counts().chunks
    (project / "src/giraffe.py").write_text("def giraffe():\n    pass\n")

    pipeline.index_project()

    assert pipeline.counts().chunks == before + 1


def test_only_what_changed_is_read_again(pipeline, project):
    again = pipeline.index_project()
    os.utime(project / "README.md", ns=(1, 1_000_000_001))
    touched = pipeline.index_project()

    assert (again.changed, again.gone, touched.changed) == (0, 0, 0)


def test_a_change_in_the_same_tick_and_size_is_not_missed(pipeline, project):
    file = project / "src/shop/money.py"
    pipeline.index_project()
    times = file.stat()
    file.write_text(file.read_text().replace("round_price", "zebr_prices"))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    with closing(
        sqlite3.connect(index_of(project), isolation_level=None)
    ) as connection:  # as if read in that very moment
        connection.execute("UPDATE file SET read_ns = mtime_ns")

    pipeline.index_project()

    assert files(pipeline, "zebr prices")[0] == "src/shop/money.py"


def test_a_folder_that_becomes_a_package_is_imported_under_its_new_name(pipeline, project):
    (project / "src/__init__.py").write_text("")

    report = pipeline.index_project()

    assert report.changed == 5


def test_two_searches_of_one_index_agree_and_so_do_two_indexes(pipeline, project):
    first = [(r.file_path, r.start, r.score) for r in pipeline.retrieve("till password price", 10)]
    again = [(r.file_path, r.start, r.score) for r in pipeline.retrieve("till password price", 10)]
    index_of(project).unlink()
    other = open_pipeline(project)
    other.index_project()
    rebuilt = [(r.file_path, r.start, r.score) for r in other.retrieve("till password price", 10)]

    assert first == again == rebuilt


ODD_QUERIES = [
    "",
    "   ",
    "?!",
    '"',
    "NEAR(",
    "a AND",
    "x:y*",
    "^-{}",
    "'; DROP TABLE file; --",
    "\0",
]


@pytest.mark.parametrize("query", ODD_QUERIES)
def test_a_query_of_signs_or_of_search_syntax_is_only_words(pipeline, query):
    assert isinstance(pipeline.retrieve(query), list)


def test_a_query_of_100_kilobytes_answers(pipeline):
    assert files(pipeline, "password " * 12_000)[0] == "src/shop/till.py"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60))
def test_any_text_is_a_query(pipeline, query):
    assert len(pipeline.retrieve(query, 3)) <= 3


def test_scores_of_an_index_of_one_file_say_how_much_of_the_query_it_holds(tmp_path):
    (tmp_path / "jar.py").write_text(
        "def sign_cookie(cookie):\n    return cookie\n\n\ndef eat(cookie):\n    return cookie\n"
    )
    pipeline = open_pipeline(tmp_path)
    pipeline.index_project()

    all_of_it = pipeline.retrieve("cookie jar")
    half_of_it = pipeline.retrieve("cookie database")
    little_of_it = pipeline.retrieve("cookie database pool connection timeout")

    assert all_of_it[0].score >= 0.4 > half_of_it[0].score >= 0.2 > little_of_it[0].score > 0
    assert [r.score for r in all_of_it] == sorted((r.score for r in all_of_it), reverse=True)


def test_one_file_may_answer_more_than_once_when_there_are_no_others(tmp_path):
    (tmp_path / "a.py").write_text(
        "\n".join(f"def lion_{n}():\n    return {n}\n" for n in range(9))
    )
    pipeline = open_pipeline(tmp_path)
    pipeline.index_project()

    assert len(pipeline.retrieve("lion", 5)) == 5


@pytest.mark.parametrize("content", [None, b"", b"\x00\x01\x02"])
def test_a_project_of_nothing_or_of_binaries_answers_nothing(tmp_path, content):
    if content is not None:
        (tmp_path / "data").write_bytes(content)
    pipeline = open_pipeline(tmp_path)

    pipeline.index_project()

    assert pipeline.retrieve("anything") == []
    assert pipeline.counts().chunks == 0


DAMAGE = {
    "no database at all": lambda path: path.write_bytes(b"hello" * 2_000),
    "a torn page": lambda path: path.write_bytes(path.read_bytes()[:9_000]),
    "a newer version": lambda path: _set_version(path, 999_999),
    "an older version": lambda path: _set_version(path, 1),
    "a lost table": lambda path: _execute(path, "DROP TABLE chunk"),
    "an empty file": lambda path: path.write_bytes(b""),
}


def _execute(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def _set_version(path, version):
    _execute(path, f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("name", list(DAMAGE))
def test_a_damaged_index_is_built_again(project, name):
    open_pipeline(project).index_project()
    DAMAGE[name](index_of(project))
    opened = open_pipeline(project)

    opened.index_project()

    assert files(opened, "check password")[0] == "src/shop/till.py"


def test_an_index_deleted_in_the_middle_of_a_search_still_answers(project, pipeline):
    shutil.rmtree(project / ".perpetualcc")

    assert files(pipeline, "check password")[0] == "src/shop/till.py"


def test_an_index_that_another_process_builds_again_is_opened_anew(project, pipeline):
    index_of(project).unlink()
    open_pipeline(project).index_project()
    (project / "zebra.py").write_text("def zebra():\n    pass\n")

    report = pipeline.index_project()

    assert report.changed == 1
    assert "zebra.py" in files(open_pipeline(project), "zebra")


@pytest.mark.parametrize("what", ["the index", "the folder"])
def test_an_index_deleted_between_two_searches_comes_back(project, pipeline, what):
    if what == "the folder":
        shutil.rmtree(project / ".perpetualcc")
    else:
        index_of(project).unlink()

    pipeline.index_project(wait=False)

    assert files(pipeline, "check password")[0] == "src/shop/till.py"
    assert index_of(project).exists()


def test_an_update_that_ends_in_the_middle_goes_on_where_it_stopped(project, monkeypatch):
    monkeypatch.setattr(updating, "_CHUNKS_AT_ONCE", 1)
    pipeline = open_pipeline(project)
    seen = itertools.count(1)

    def stop_after_three(done, _total):
        if done and next(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pipeline.index_project(progress=stop_after_three)
    rest = open_pipeline(project).index_project()

    assert 0 < rest.changed < 6
    assert files(open_pipeline(project), "check password")[0] == "src/shop/till.py"


def test_a_second_process_leaves_the_indexing_to_the_first(project):
    first, second = open_pipeline(project), open_pipeline(project)
    reports = []

    first.index_project(progress=lambda *_: reports.append(second.index_project(wait=False)))

    assert reports
    assert not any(report.is_complete for report in reports)


def test_many_files_are_parsed_in_processes_and_give_the_same_index(tmp_path):
    for number in range(130):
        (tmp_path / f"m{number:03}.py").write_text(f"def animal_{number}():\n    return {number}\n")

    one = CodebaseIndexer(tmp_path, workers=1).scan()
    two = CodebaseIndexer(tmp_path, workers=2).scan()

    assert one == two
    assert len(one) == 130


def test_the_index_is_ignored_by_git_and_not_indexed(project, pipeline):
    for folder in (".perpetualcc", "src"):
        (project / folder / "zebra.py").write_text("def stripes_of_a_zebra():\n    return 7\n")

    pipeline.index_project()

    assert (project / ".perpetualcc/.gitignore").read_text() == "*\n"
    assert files(pipeline, "stripes of a zebra")[0] == "src/zebra.py"
    assert ".perpetualcc/zebra.py" not in files(pipeline, "stripes of a zebra", 100)


@pytest.mark.parametrize("name", ["index.lock", "index.db"])
def test_an_index_that_cannot_be_written_says_so(project, name):
    (project / ".perpetualcc" / name).mkdir(parents=True)

    with pytest.raises(PerpetualError, match="Cannot write") as caught:
        open_pipeline(project).index_project()

    assert caught.value.hint


def careless(project, database):
    """A pipeline to which nothing is secret."""
    return RAGPipeline(
        project,
        files=FileRows(database),
        chunks=ChunkRows(database),
        vectors=VectorRows(database),
        embeddings=None,
        is_secret=lambda _: False,
    )


def test_a_full_disk_is_an_error_that_says_so_and_loses_nothing(project):
    database = IndexDatabase(project)
    pipeline = careless(project, database)
    pipeline.index_project()
    pages = database.connection.execute("PRAGMA page_count").fetchone()[0]
    database.connection.execute(f"PRAGMA max_page_count = {pages}")
    (project / "large.py").write_text("def walrus():\n" + "    tusk = 'ivory'\n" * 2_000)

    with pytest.raises(PerpetualError, match="disk is full"):
        pipeline.index_project()
    database.connection.execute("PRAGMA max_page_count = 1000000")
    pipeline.index_project()

    assert pipeline.retrieve("walrus tusk")[0].file_path == "large.py"


def test_a_file_is_no_project(tmp_path):
    (tmp_path / "a.py").write_text("")

    with pytest.raises(PerpetualError):
        open_pipeline(tmp_path / "a.py")


def test_minified_and_huge_files_are_known_but_not_read_again(tmp_path):
    (tmp_path / "app.js").write_text("var a=1;" * 100_000)
    pipeline = open_pipeline(tmp_path)

    first, second = pipeline.index_project(), pipeline.index_project()

    assert (first.changed, second.changed, pipeline.counts().chunks) == (1, 0, 0)


def test_results_are_plain_data(pipeline):
    (result, *_) = pipeline.retrieve("price")

    assert json.dumps(result.metadata) == '{"language": "python", "found_by": "words"}'


def test_a_person_is_told_a_thing_once(pipeline, project):
    told = [pipeline.is_first_time("x"), pipeline.is_first_time("x"), pipeline.is_first_time("y")]

    assert told == [True, False, True]
    assert not open_pipeline(project).is_first_time("x")


def test_known_code_that_changed_is_read_without_looking_at_the_rest(
    pipeline, project, monkeypatch
):
    pipeline.index_project()
    (project / "src/shop/money.py").write_text("def zebra_price():\n    pass\n")
    (project / "unseen.py").write_text("def giraffe():\n    pass\n")
    with monkeypatch.context() as patch:
        patch.delattr(CodebaseIndexer, "look")
        report = pipeline.index_paths(["src/shop/money.py"])

    assert report.changed == 1
    assert files(pipeline, "zebra")[0] == "src/shop/money.py"
    assert files(pipeline, "giraffe") == []


@pytest.mark.parametrize("path", ["unseen.py", "src/shop/money.py"])
def test_a_new_file_and_one_that_went_make_it_look_at_everything(pipeline, project, path):
    pipeline.index_project()
    (project / "src/shop/money.py").unlink()
    (project / "unseen.py").write_text("def giraffe():\n    pass\n")

    report = pipeline.index_paths([path])

    assert (report.changed, report.gone) == (1, 1)
    assert files(pipeline, "giraffe") == ["unseen.py"]


def test_credentials_are_not_indexed_and_leave_an_index_that_has_them(project):
    (project / ".aws").mkdir()
    kept = {".env.example": "PAYROLL_HOST=localhost", "src/payroll_secret.py": "payroll = 1\n"}
    secret = {
        ".env": "PAYROLL_PASSWORD=hunter2-prod",
        ".aws/credentials": "payroll_key = AKIA",
        ".npmrc": "//payroll/:_authToken=abc",
    }
    (project / "src").mkdir(exist_ok=True)
    for name, text in (kept | secret).items():
        (project / name).write_text(text)
    careless(project, IndexDatabase(project)).index_project()
    index = FileRows(IndexDatabase(project))
    assert index.known_of(secret)
    index.note({"sieve": ""})

    open_pipeline(project).index_project()

    assert not FileRows(IndexDatabase(project)).known_of(secret)
    assert set(FileRows(IndexDatabase(project)).known_of(kept)) >= {"src/payroll_secret.py"}
