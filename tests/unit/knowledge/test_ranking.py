"""Code comes first, unless the query speaks of something else."""

import pytest

from perpetualcc.knowledge.code_words import query_names
from perpetualcc.knowledge.ports import Hit
from perpetualcc.knowledge.ranking import fused, is_document, is_history, rank_files
from perpetualcc.knowledge.wishes import Wishes, wishes


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("Fix the flaky test of the parser", Wishes(tests=True)),
        ("parser: add unittests", Wishes(tests=True, parts=("parser",))),
        ("Document test_runner", Wishes(tests=True, documents=True)),
        ("Where is a test collected?", Wishes()),
        ("how does the testing client send documents", Wishes()),
        ("Return the latest contest", Wishes()),
        ("Tests a token and returns it", Wishes()),
        ("Test if a file is open", Wishes()),
        ("Tests: pytest may test a file", Wishes(tests=True, parts=("tests",))),
        ("", Wishes()),
        ("bwrap: clarify a comment", Wishes(parts=("bwrap",))),
        ("gdk/surface, gtk: handle clicks", Wishes(parts=("gdk", "surface", "gtk"))),
        ("fix(font-chooser)!: drop a string", Wishes(parts=("fontchooser",))),
        ("libtest: allow adding", Wishes(tests=True, parts=("libtest",))),
        ("docs: how to install", Wishes(documents=True)),
        ("fix: close the socket", Wishes()),
        ("Note: this blocks", Wishes()),
    ],
)
def test_a_statement_about_tests_or_documents_wants_them_and_a_question_does_not(query, wanted):
    assert wishes(query) == wanted


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("ChangeLog", True),
        ("CHANGES.rst", True),
        ("docs/changelog/1.2.md", True),
        ("releasenotes/notes/fix-9a.yaml", True),
        ("NEWS", True),
        ("docs/release-notes-2.1.md", True),
        ("00-RELEASENOTES", True),
        ("src/history.py", False),
        ("src/changes_view.py", False),
        ("src/exchange.py", False),
        ("newsroom/app.py", False),
    ],
)
def test_files_that_tell_what_was_changed_are_known_by_their_names(path, expected):
    assert is_history(path) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README", True),
        ("src/README.UPDATING", True),
        ("man/rsync.1", True),
        ("manual.texi", True),
        ("guide.md", True),
        ("readme.py", False),
        ("install.sh", False),
        ("license_check.go", False),
        ("src/v8.1.c", False),
    ],
)
def test_files_that_speak_of_the_code_are_known_by_their_names(path, expected):
    assert is_document(path) is expected


def test_tests_and_documents_stand_back_until_they_are_wanted():
    hits = [
        Hit(chunk=1, path="src/parser.py", score=0.6),
        Hit(chunk=2, path="tests/test_parser.py", score=0.7),
        Hit(chunk=3, path="docs/parser.md", score=0.9),
        Hit(chunk=4, path="CHANGELOG.md", score=0.8),
    ]

    def order(wanted):
        return [hit.chunk for hit in rank_files(hits, wanted)]

    assert order(Wishes()) == [1, 3, 2, 4]
    assert order(Wishes(tests=True)) == [2, 1, 3, 4]
    assert order(Wishes(documents=True)) == [3, 1, 2, 4]


def test_the_part_that_a_message_names_first_is_looked_for_in_paths():
    hits = [
        Hit(chunk=1, path="gtk/gtkaboutdialog.c", score=0.6),
        Hit(chunk=2, path="gtk/gtk-font-chooser.c", score=0.5),
    ]

    def order(query):
        return [hit.chunk for hit in rank_files(hits, wishes(query))]

    assert order("fontchooser: drop a string") == [2, 1]
    assert order("drop a string of the fontchooser") == [1, 2]


def test_names_of_several_words_are_looked_up_as_they_stand():
    assert query_names("fix parseCookie() in http.cookie_jar, see Foo") == [
        "parse cookie",
        "cookie jar",
    ]


def test_the_place_where_a_name_stands_comes_before_places_that_have_its_words(pipeline, project):
    (project / "far.py").write_text("def run():\n    jar = 1\n    cookie = 2\n    jar, cookie\n")
    (project / "near.py").write_text("def go():\n    value = 3\n    cookie_jar(value)\n    value\n")
    pipeline.index_project()

    found = [result.file_path for result in pipeline.retrieve("rename cookie_jar")]

    assert found.index("near.py") < found.index("far.py")


@pytest.mark.parametrize(
    ("chunks", "first"), [(0, "near.py"), (2_000, "near.py"), (50_000, "said.py")]
)
def test_vectors_say_more_in_a_small_index_than_in_a_large_one(chunks, first):
    by_words = [Hit(chunk=1, path="said.py", score=0.4), Hit(chunk=2, path="near.py", score=0.2)]
    by_meaning = [Hit(chunk=2, path="near.py", score=0.8), Hit(chunk=1, path="said.py", score=0.4)]

    found = fused(by_words, by_meaning, chunks)

    assert found[0].path == first
    assert all(0 < hit.score <= 1 for hit in found)
