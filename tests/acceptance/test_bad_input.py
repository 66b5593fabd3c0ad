"""Bad input gets a clear error, the right exit code, and nothing is lost."""

import itertools
import random
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from perpetualcc.domain.errors import PerpetualError
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

PROTOCOL = Path(__file__).parents[2] / "docs/protocol.md"
QUIET = "steps: [Done.]"


def refused(pcc, *words: str, code: int = 1) -> str:
    done = pcc.pcc(*words, check=False)
    said = done.stderr + done.stdout
    assert done.returncode == code, said
    assert "Traceback" not in said
    return said


def test_mistakes_before_a_session_exists(install, tmp_path):
    pcc = install(QUIET)
    file = tmp_path / "file"
    file.write_text("")
    project = str(pcc.project)

    assert "does not exist" in refused(pcc, "start", str(tmp_path / "no"), "--task", "x")
    assert "not a directory" in refused(pcc, "start", str(file), "--task", "x")
    assert "The task is empty" in refused(pcc, "start", project, "--task", " ", code=2)
    assert "There is nothing to do" in refused(pcc, "start", project, code=2)
    assert "No session matches 'zzz'" in refused(pcc, "status", "zzz")
    assert "hint:  See them with: pcc list" in refused(pcc, "attach", "zzz")
    assert "'--confidence'" in refused(pcc, "start", project, "--confidence", "7", code=2)
    assert "No such command 'strat'" in refused(pcc, "strat", code=2)
    assert "No session status is called 'odd'" in refused(pcc, "list", "--status", "odd", code=2)
    assert "--brain cannot be 'odd'" in refused(
        pcc, "start", project, "--task", "x", "--brain", "odd", code=2
    )
    assert "--risk cannot be 'odd'" in refused(pcc, "decisions", "--risk", "odd", code=2)
    assert "No level is called 'odd'" in refused(pcc, "logs", "x", "--level", "odd", code=2)
    assert "No session matches 'abc', and it is no request's number" in refused(
        pcc, "respond", "abc", "x", code=2
    )
    assert "The whole file system" in refused(pcc, "start", "/", "--task", "x")
    assert "its own state" in refused(pcc, "start", str(pcc.locations.logs_dir), "--task", "x")
    for name in (".claude", ".perpetualcc", ".Claude"):
        place = pcc.project / name
        place.mkdir(exist_ok=True)
        assert "guarded by" in refused(pcc, "start", str(place), "--task", "x")
    assert "it is empty" in refused(pcc, "start", "", "--task", "x", code=2)
    assert "not UTF-8" in refused(pcc, "start", f"{project}\udcff", "--task", "x")
    for unspeakable in ("a\nb", "a\x1bb", "caf\udce9"):
        place = tmp_path / unspeakable
        place.mkdir()
        (link := tmp_path / "link").unlink(missing_ok=True)
        link.symlink_to(place)
        assert "Rename the directory" in refused(pcc, "start", str(link), "--task", "x")
    assert "out of all bounds" in refused(pcc, "list", "--limit", "9" * 20)
    assert "hint" in refused(pcc, "start", project, "--requirements", "nowhere.md")
    assert pcc.json("list") == []


def test_mistakes_about_a_session_that_exists(install):
    pcc = install("{scenes: [{when: one, steps: [One.]}, {when: two, steps: [Two.]}]}")
    session = pcc.start("one")
    pcc.wait(session)

    assert "there is nothing to resume" in refused(pcc, "resume", session)
    assert "is no whole number" in refused(pcc, "add", session, "x", "--priority", "high", code=2)
    assert "matches no task" in refused(pcc, "add", session, "x", "--after", "nothing")
    assert "matches no task" in refused(pcc, "stop", session, "")
    assert "The task is empty" in refused(pcc, "add", session, "  ", code=2)
    assert "cannot become" in refused(pcc, "pause", session)
    assert pcc.status(session)["status"] == "COMPLETED"
    assert [task["state"] for task in pcc.status(session)["tasks"]] == ["done"]


def test_a_project_inside_one_at_work_is_refused(install):
    pcc = install('{delay: 2s, steps: [{tools: [{Read: {file_path: "{project}/x"}}]}, Done.]}')
    inner = pcc.project / "inner"
    inner.mkdir()
    session = pcc.start("outer")

    assert "inside each other" in refused(pcc, "start", str(inner), "--task", "x")

    pcc.pcc("stop", session)
    assert pcc.status(session)["status"] == "STOPPED"
    wait_until(lambda: not pcc.claudes(), within=60)


def test_a_mistake_in_the_configuration_names_key_line_and_nearest(install):
    pcc = install(QUIET)
    config = pcc.locations.data.parent / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)

    config.write_text("[sessions]\nmax_concurent = 3\n")
    said = refused(pcc, "list")
    assert "Unknown key 'sessions.max_concurent'" in said
    assert "line 2" in said
    assert "Did you mean 'sessions.max_concurrent'?" in said
    config.write_text("[sessions]\n\n\nmax_concurrent = 'three'\n")
    said = refused(pcc, "list")
    assert "must be a whole number" in said
    assert "line 4" in said
    config.write_text("[sessions\n")
    assert "no TOML" in refused(pcc, "list")


def test_a_database_from_a_newer_version_is_refused_and_kept(install):
    pcc = install(QUIET)
    pcc.pcc("list")
    pcc.pcc("daemon", "stop", "--now")
    with closing(sqlite3.connect(pcc.locations.database, isolation_level=None)) as database:
        database.execute("PRAGMA user_version = 999999")

    said = [refused(pcc, "list"), refused(pcc, "explain", "bash", "ls"), refused(pcc, "doctor")]

    assert all("newer version" in one and "Upgrade PerpetualCC" in one for one in said)
    with closing(sqlite3.connect(pcc.locations.database, isolation_level=None)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (999999,)
        assert database.execute("SELECT count(*) FROM events").fetchone() == (1,)


def test_an_older_version_does_not_end_the_daemon_of_a_newer_one_by_a_restart(install):
    pcc = install(QUIET, "--idle-exit", "60")
    pcc.pcc("list")
    engine = pcc.engine
    with closing(sqlite3.connect(pcc.locations.database, isolation_level=None)) as database:
        database.execute("PRAGMA user_version = 999999")

    said = refused(pcc, "daemon", "restart")

    assert "newer version" in said
    assert pcc.engine == engine


def test_a_corrupt_database_is_refused_and_kept(install):
    pcc = install(QUIET)
    pcc.locations.prepare()
    pcc.locations.database.write_bytes(b"this is no database" * 1000)

    said = refused(pcc, "list")

    assert "database" in said
    assert pcc.locations.database.read_bytes().startswith(b"this is no database")


def test_a_socket_path_that_is_too_long_says_what_to_do(install, tmp_path):
    pcc = install(QUIET)
    long = tmp_path / ("x" * 120)

    said = refused(pcc, "--data-dir", str(long), "list")

    assert "socket path" in said
    assert "--data-dir" in said


def test_a_scenario_with_a_mistake_names_the_line(install, tmp_path):
    pcc = install(QUIET)
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("steps:\n  - sayy: hello\n")

    said = refused(pcc, "rehearse", str(scenario), "--check")

    assert "line 2" in said
    assert "say" in said


ABSURD = """
limits.warn_at -3                     | a number from 0 on
limits.quiet_hours 25:00-99           | is not a span of local time
limits.stagger_seconds 1e12           | between 0 and 3600
limits.resume_tokens -5               | from 0 on
stuck.denials 1                       | would end every run
handover.warn_share 2                 | must be below handover.hard_share
sessions.max_concurrent 0             | nothing would ever start
sessions.checkpoint_retention_days -1 | from 0 on
"""


def test_numbers_that_cannot_be_meant_are_refused_and_change_nothing(install):
    pcc = install(QUIET)
    before = pcc.locations.data.parent.joinpath("config.toml").read_text()

    for line in ABSURD.strip().splitlines():
        words, _, said = line.partition("|")
        assert said.strip() in refused(pcc, "config", "set", *words.split(), code=2), line

    assert pcc.locations.data.parent.joinpath("config.toml").read_text() == before


def test_a_path_that_cannot_be_is_refused_and_no_mistake_of_ours(install):
    pcc = install(QUIET)
    pcc.pcc("daemon", "start")

    for method, more in (("trust.show", {}), ("trust.set", {"hash": "x"}), ("trust.forget", {})):
        with pytest.raises(PerpetualError, match="holds no NUL character"):
            pcc.ask(method, project="a\0b", **more)

    assert "Traceback" not in pcc.locations.engine_log.read_text()


TEXTS = ("", "\0", "x" * 9_000, "../../etc", "[", "*", "/clear", "undo-1", "'; --", "\u202e", "{}")
OTHERS = (None, True, -1, 2**63 - 1, 2**70, 1.5, float("nan"), float("inf"), [], {}, [[None]], [1])


def test_whatever_a_method_is_given_it_is_no_mistake_of_ours(install):
    pcc = install(QUIET)
    (pcc.project / "app.py").write_text("mine\n")
    session = pcc.start("one")
    pcc.wait(session)
    engine, chance = pcc.engine, random.Random(7)
    rows = [line.split(" | ") for line in PROTOCOL.read_text().splitlines()]
    methods = {one[0][3:-1]: re.findall(r"`(\w+)`: ", one[1]) for one in rows if "." in one[0][:20]}
    assert {"session.say", "word.list", "snapshot.list", "snapshot.take"} <= methods.keys()

    for method, names in methods.items():
        for name, value in itertools.product(names, (*TEXTS, *OTHERS)):
            given = {one: session if one == "session" else chance.choice(TEXTS) for one in names}
            with suppress(PerpetualError):
                pcc.ask(method, **given | {name: value})

    assert pcc.engine == engine
    assert "Traceback" not in pcc.locations.engine_log.read_text()
