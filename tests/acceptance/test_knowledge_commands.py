"""`pcc init`, `search`, `graph` and `context` as a user runs them."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from perpetualcc.cli.chosen_requirements import remembered
from perpetualcc.cli.knowledge import app
from perpetualcc.config import locate
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.knowledge.code_graph import UnknownEntity
from tests.commands import run_pcc

FILES = {
    "shop/till.py": "from shop.money import round_price\n\n\ndef check_password(cashier):\n"
    "    return round_price(cashier)\n",
    "shop/money.py": "def round_price(price):\n    return round(price, 2)\n",
    "shop/__init__.py": "",
}


@pytest.fixture
def environment(tmp_path):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "CLAUDE"))}
    home = tmp_path / "home"
    home.mkdir()
    return kept | {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude"), "NO_COLOR": "1"}


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture
def pcc(environment):
    def run(*arguments, text=None):
        return run_pcc(arguments, env=environment, stdin=text)

    return run


def test_init_says_what_it_did_and_may_be_repeated(pcc, project):
    first = pcc("init", project, "--no-vectors")
    second = pcc("init", project, "--no-vectors")

    assert first.returncode == second.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0] == "✓ Scanning project structure... (3 files found)"
    assert lines[1] == "✓ Building knowledge graph... (2 modules, 2 functions)"
    assert lines[2].startswith("✓ Indexing codebase for RAG... (2 chunks, 3 files read in ")
    assert lines[3] == "✓ Created .perpetualcc/ directory"
    assert lines[5:] == [
        "Project initialized. Start a session with:",
        f'  pcc start {project} --task "Your task here"',
    ]
    assert "(2 chunks, 0 files read in " in second.stdout
    assert "✓ Found .perpetualcc/ directory" in second.stdout


def test_init_asks_for_no_task_where_the_requirements_list_some(pcc, project, tmp_path):
    (tmp_path / "plan.md").write_text("# Plan\n\n## Tasks\n- [ ] Build it\n")

    done = pcc("init", project, "--skip-index", "--requirements", tmp_path / "plan.md")

    again = pcc("init", project, "--skip-index")

    assert done.stdout.splitlines()[-1] == f"  pcc start {project}"
    assert again.stdout.splitlines()[-1] == f"  pcc start {project}", "it is still the chosen one"


def test_init_keeps_the_requirements_file_and_can_leave_the_index_for_later(pcc, project, tmp_path):
    (tmp_path / "wish.md").write_text("# Wish\n")

    done = pcc("init", project, "--skip-index", "--requirements", tmp_path / "wish.md")
    missing = pcc("init", project, "--requirements", tmp_path / "nothing.md")

    places = locate(tmp_path / "home/.perpetualcc/data")
    assert remembered(places, project) == tmp_path / "wish.md"
    assert not (project / ".perpetualcc/index.db").exists()
    assert done.returncode == 0
    assert (missing.returncode, "no requirements file" in missing.stderr) == (1, True)


def test_vectors_can_be_waited_for(pcc, project):
    done = pcc("init", project, "--vectors")
    found = pcc("search", project, "verify the credentials of an employee", "--json")

    assert "✓ Embedding chunks... (2 chunks embedded)" in done.stdout
    assert json.loads(found.stdout)[0]["file"] == "shop/till.py"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["search", "where is the password checked?"], "shop/till.py:1-5"),
        (["graph", "shop/money.py"], "imported by shop/till.py"),
        (["context", "money.py"], "shop/money.py"),
    ],
)
def test_what_is_asked_alone_is_asked_of_the_repository_that_one_is_in(
    environment, project, words, found
):
    nowhere = run_pcc(words, env=environment, cwd=project / "shop")
    (project / ".git").mkdir()

    asked = run_pcc(words, env=environment, cwd=project / "shop")

    assert nowhere.returncode == 2
    assert f"pcc {words[0]} PROJECT " in nowhere.stderr
    assert asked.returncode == 0, asked.stderr
    assert found in asked.stdout
    assert not (project / "shop" / ".perpetualcc").exists()


def test_a_search_needs_no_init_and_knows_the_last_edit(pcc, project):
    first = pcc("search", project, "where is the password checked?")
    (project / "shop/zoo.py").write_text("def zebra():\n    pass\n")
    second = pcc("search", project, "zebra", "--json", "-k", "1")

    assert first.stdout.split()[1:] == ["shop/till.py:1-5", "check_password"]
    (result,) = json.loads(second.stdout)
    assert (result["file"], result["start"], result["end"]) == ("shop/zoo.py", 1, 2)


def test_lines_of_queries_get_lines_of_results(pcc, project):
    asked = '{"id": 7, "query": "round price"}\nnonsense\n\n{"id": "b", "query": ""}\n'

    answers = [
        json.loads(line)
        for line in pcc("search", project, "--jsonl", text=asked).stdout.splitlines()
    ]

    assert [answer["id"] for answer in answers] == [7, None, "b"]
    assert answers[0]["results"][0].keys() == {"file", "start", "end", "score"}
    assert answers[0]["results"][0]["file"] == "shop/money.py"
    assert answers[2]["results"] == []


@pytest.fixture
def here(monkeypatch, environment):
    """The same commands in this process: starting one costs more than most of them do."""
    monkeypatch.setenv("HOME", environment["HOME"])

    def run(*arguments):
        return CliRunner().invoke(app, [*map(str, arguments)])

    return run


def test_the_graph_is_shown_as_text_json_and_dot(here, project):
    text = here("graph", project, "round_price", "--depth", "1")
    data = json.loads(here("graph", project, "round_price", "--depth", "1", "--json").stdout)
    dot = here("graph", project, "round_price", "--depth", "1", "--dot")
    unknown = here("graph", project, "nobody")

    assert text.stdout == "called by shop/till.py::check_password\ndefined in shop/money.py\n"
    assert data[0]["entity"] == "shop/till.py::check_password"
    assert (
        '"shop/till.py::check_password" -> "shop/money.py::round_price" [label=calls];'
        in dot.stdout
    )
    assert isinstance(unknown.exception, UnknownEntity)


def test_what_is_linked_with_nothing_is_said_to_be(here, project):
    (project / "alone.py").write_text("")

    shown = here("graph", project, "alone.py")

    assert shown.stdout == ""
    assert shown.stderr.endswith("Nothing in the index is linked with 'alone.py'\n")


def test_the_structure_of_a_project_is_reported(here, project):
    (project / "shop/tests").mkdir()
    (project / "shop/tests/test_till.py").write_text("import shop.till\n")
    (project / "shop/money.py").write_text("import shop.till\n")

    text = here("graph", project, "--report").stdout
    data = json.loads(here("graph", project, "--report", "--json").stdout)
    unasked = here("graph", project)

    assert text == (
        "3 files of code, 2 imports among them; tests are left out\n"
        "\nMost depended on (importers, files that reach it):\n"
        "     1    1  shop/money.py\n"
        "     1    1  shop/till.py\n"
        "\nCycles: 1\n"
        "  shop/money.py → shop/till.py → shop/money.py\n"
        "\nLayers, from the ground up: 1\n"
        "    0  3 files: shop/__init__.py, shop/money.py, shop/till.py\n"
        "\nOrphans: they import none and none imports them: 1\n"
        "  shop/__init__.py\n"
    )
    assert data["cycles"][0]["shortest"] == ["shop/money.py", "shop/till.py"]
    assert (data["files"], data["orphans"]) == (3, ["shop/__init__.py"])
    assert isinstance(unasked.exception, PerpetualError)


def test_a_files_context_is_shown(here, project):
    shown = here("context", project, "shop/money.py")

    assert shown.stdout == (
        "shop/money.py\n  imported by shop/till.py\n  exports function round_price  (line 1)\n"
        "  round_price is called at shop/till.py:5\n"
    )


@pytest.mark.parametrize("command", [["init"], ["search", "x"], ["graph", "x"], ["context", "x"]])
def test_no_folder_is_an_error_with_a_hint(here, tmp_path, command):
    run = here(command[0], tmp_path / "missing", *command[1:])

    assert isinstance(run.exception, PerpetualError)
    assert run.exception.hint


def _many(folder, count):
    for number in range(count):
        body = "".join(f"    value_{n} = compute_{n}(value, {number})\n" for n in range(40))
        (folder / f"m{number:04}.py").write_text(f"def animal_{number}(value):\n{body}")


def _start_init(project, environment):
    return subprocess.Popen(
        [sys.executable, "-m", "perpetualcc", "init", str(project), "--no-vectors"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def test_killed_twice_while_indexing_it_completes_and_is_whole(pcc, project, environment):
    _many(project, 600)
    index = project / ".perpetualcc/index.db-wal"
    for size in (1, 1_000_000):
        run = _start_init(project, environment)
        deadline = time.monotonic() + 20
        while run.poll() is None and time.monotonic() < deadline:
            if index.exists() and index.stat().st_size > size:
                break
            time.sleep(0.005)
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()

    done = pcc("init", project, "--no-vectors")
    found = json.loads(pcc("search", project, "animal 599", "--json").stdout)

    assert "(603 files found)" in done.stdout, done.stderr
    assert found[0]["file"] == "m0599.py"


def test_whoever_is_killed_while_indexing_leaves_no_worker_behind(project, environment):
    _many(project, 4_000)
    index = project / ".perpetualcc/index.db-wal"
    run = _start_init(project, environment)
    _wait_until(lambda: index.exists() and index.stat().st_size > 500_000)

    os.kill(run.pid, signal.SIGKILL)
    try:
        run.communicate(timeout=20)
        _wait_until(lambda: not _is_any_left(run.pid))
        assert run.returncode == -signal.SIGKILL, "it was killed, and did not end by itself before"
    finally:
        if _is_any_left(run.pid):
            os.killpg(run.pid, signal.SIGKILL)


def _wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_any_left(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_two_inits_at_once_make_one_index(project, environment):
    _many(project, 300)

    runs = [_start_init(project, environment) for _ in range(2)]
    outputs = [run.communicate(timeout=50)[0].decode() for run in runs]

    assert [run.returncode for run in runs] == [0, 0]
    assert all("(303 files found)" in output for output in outputs)
    assert sorted(" 0 files read" in output for output in outputs) == [False, True]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("bin.md", b"\x00\xff\xfe\x89PNG", "bin.md:1: not a text file"),
        ("empty.md", b"", "empty.md: empty"),
        ("ahead.md", b"## Tasks\n- One (depends_on: 9)\n", "ahead.md:2: task"),
        ("ahead.yaml", b"tasks:\n  - {id: 1, description: One, depends_on: 9}\n", "ahead.yaml:2:"),
    ],
)
def test_requirements_that_cannot_be_are_refused_when_they_are_chosen(
    pcc, project, tmp_path, name, content, problem
):
    (tmp_path / name).write_bytes(content)

    done = pcc("init", project, "--skip-index", "--requirements", tmp_path / name)

    assert (done.returncode, done.stdout) == (1, "")
    assert problem in done.stderr
    assert not (project / ".perpetualcc").exists()


def test_what_init_read_it_found(pcc, project):
    (project / "picture.py").write_bytes(b"\x00\x01\x02" * 100)

    said = pcc("init", project, "--no-vectors").stdout

    assert "(3 files found)" in said
    assert " 3 files read in " in said


def test_every_bad_line_gets_one_error_with_the_id_it_has(pcc, project):
    lines = {
        b'{"id": 1, "query": "cashier"}': (1, False),
        b'{"query": "cashier"}': (None, False),
        b'{"id": 2}': (2, True),
        b'{"id": 3, "query": 5}': (3, True),
        b'{"id": 4, "query": null}': (4, True),
        b'{"id": 5, "query": " "}': (5, True),
        b'{"id": 1e400, "query": "cashier"}': (None, True),
        b'{"id": [NaN], "query": "cashier"}': (None, True),
        b"[1]": (None, True),
        b"\xff\xfe": (None, True),
        b"[" * 5000: (None, True),
        b'{"id": 6, "query": "\\ud800"}': (6, False),
    }

    done = pcc(
        "search", project, "--jsonl", text=b"\n".join(lines).decode("utf-8", "surrogateescape")
    )

    def strictly(line):
        return json.loads(line, parse_constant=pytest.fail)

    told = [strictly(line) for line in done.stdout.splitlines()]
    assert [(one["id"], "error" in one) for one in told] == list(lines.values())


def test_a_missing_query_is_said(pcc, project):
    for words in (("search", project), ("search", project, " ")):
        done = pcc(*words)

        assert (done.returncode, done.stdout) == (2, "")
        assert f"pcc search {project} " in done.stderr


def test_what_contradicts_itself_is_named(here, project):
    drawn = here("graph", project, "--report", "--dot").exception
    both = here("graph", project, "round_price", "--report").exception

    assert "--dot" in drawn.message
    assert "'round_price'" in both.message
