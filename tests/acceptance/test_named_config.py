"""The configuration file that a person names is the one that works, wherever it is named."""

import os
from pathlib import Path

import pytest

from perpetualcc.daemon.state import Phase, read_status
from tests.acceptance.supervised import supervised, wait_until

pytestmark = pytest.mark.timeout(120)

MINE = '[notifications]\nurls = ["json://127.0.0.1:1/"]\n'


@pytest.fixture
def pcc(tmp_path, monkeypatch):
    """An installation whose folder of work holds `mine.toml`, with one channel more."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "mine.toml").write_text(MINE)
    monkeypatch.chdir(work)
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    with supervised(tmp_path, environment, work, "--idle-exit", "60") as world:
        yield world


def channels(pcc, *options: str) -> str:
    """What the engine knows of, whatever becomes of it."""
    done = pcc.pcc(*options, "notify", "test", "--json", check=False)
    assert "started anew" not in done.stderr
    return done.stdout


def a_session_for_later(pcc, *options: str) -> None:
    """A daemon that has something to do is not started anew by a command that works elsewhere."""
    pcc.pcc(*options, "start", ".", "--task", "later", "--at", "tomorrow at 3pm", "-d")


def test_a_relative_file_in_the_variable_is_the_engines_too(pcc):
    pcc.environment["PERPETUALCC_CONFIG"] = "mine.toml"
    pcc.pcc("daemon", "start")

    assert "json" in channels(pcc)


@pytest.mark.parametrize("how", ["start", "restart"])
def test_a_daemon_works_with_the_file_that_it_was_started_with(pcc, how):
    pcc.pcc("--config", "mine.toml", "daemon", how)

    assert "json" in channels(pcc, "--config", "mine.toml")


def test_a_file_that_is_named_here_is_taken_over_by_a_daemon_that_has_nothing_to_do(pcc):
    pcc.pcc("daemon", "start")

    tested = pcc.pcc("--config", "mine.toml", "notify", "test", "--json", check=False)

    assert "was started anew, with your --config\n" in tested.stderr
    assert "json" in tested.stdout


def test_a_running_daemon_with_another_file_is_told_of(pcc):
    a_session_for_later(pcc)

    other = pcc.pcc("--config", "mine.toml", "daemon", "start").stderr
    begun = pcc.pcc("--config", "mine.toml", "start", ".", "--task", "x", "-d").stderr
    found = pcc.pcc("--config", "mine.toml", "doctor", check=False).stdout
    pcc.pcc("--config", "mine.toml", "daemon", "restart")
    taken_over = pcc.pcc("--config", "mine.toml", "daemon", "start").stderr

    note = (
        "note: The daemon was started without your --config, or with another value;"
        f" to take it over: pcc --config mine.toml --data-dir {pcc.locations.data} daemon restart\n"
    )
    assert other == begun == note
    assert "✗ Environment: The daemon was started without your --config" in found
    assert taken_over == ""


def test_a_running_daemon_with_a_named_file_is_told_of_where_the_usual_one_is_meant(pcc):
    del pcc.environment["PERPETUALCC_CONFIG"]
    pcc.pcc("--config", "mine.toml", "daemon", "start")

    begun = pcc.pcc("start", ".", "--task", "x", "-d").stderr
    found = pcc.pcc("doctor", check=False).stdout
    pcc.pcc("daemon", "restart")
    taken_over = pcc.pcc("daemon", "start").stderr

    told = "The daemon was started without your usual configuration file, or with another value;"
    assert begun.startswith(f"note: {told} to take it over: pcc --data-dir ")
    assert f"✗ Environment: {told}" in found
    assert taken_over == ""


def test_a_running_daemon_with_older_settings_is_told_of_until_it_takes_them_over(pcc, tmp_path):
    file = tmp_path / "work" / "mine.toml"
    pcc.environment["PERPETUALCC_CONFIG"] = "mine.toml"
    a_session_for_later(pcc)

    file.write_text(f"# A remark changes no setting.\n{MINE}")
    as_it_was = pcc.pcc("daemon", "start").stderr
    file.write_text(f'{MINE}[permissions]\nblocked_commands = ["make deploy"]\n')
    begun = pcc.pcc("start", ".", "--task", "x", "-d").stderr
    gone_on = pcc.pcc("resume", "x", check=False).stderr
    found = pcc.pcc("doctor", check=False).stdout
    status = pcc.pcc("daemon", "status").stdout
    pcc.pcc("daemon", "restart")
    taken_over = pcc.pcc("daemon", "start").stderr

    assert "\nSettings    other than the configuration says now: pcc daemon restart\n" in status
    told = "The configuration was changed, and the daemon works with what it was; to take it over:"
    assert begun.startswith(f"note: {told} pcc --data-dir ")
    assert gone_on.startswith(f"note: {told}")
    assert f"✗ Settings: {told}" in found
    assert as_it_was == taken_over == ""


def test_the_unit_for_every_login_names_the_file(pcc, tmp_path):
    (tmp_path / "work" / "a b.toml").write_text("")

    pcc.environment["ANTHROPIC_API_KEY"] = "sk-mine"
    done = pcc.pcc("--config", "a b.toml", "daemon", "install", "--dry-run")
    shown = done.stdout
    assert "without your ANTHROPIC_API_KEY" in done.stderr
    assert "sk-mine" not in shown + done.stderr

    assert f'"PERPETUALCC_CONFIG={tmp_path}/work/a b.toml"' in shown


def test_a_named_file_that_is_missing_stops_everything_but_writing_it(pcc, tmp_path):
    pcc.environment["PERPETUALCC_CONFIG"] = "gone.toml"
    place = tmp_path / "work" / "gone.toml"
    said = f"Configuration file '{place}' does not exist"

    for words in (["list"], ["daemon", "start"], ["daemon", "install"]):
        done = pcc.pcc(*words, check=False)
        assert (done.returncode, said in done.stderr) == (1, True), words
    checked = pcc.pcc("doctor", check=False)
    assert checked.returncode == 1
    assert f"✗ {said}" in checked.stdout
    assert pcc.supervisor is None

    pcc.pcc("config", "set", "max_concurrent", "2")
    assert place.exists()
    pcc.pcc("list")


def test_a_daemon_is_not_stopped_for_a_file_with_which_it_cannot_start(pcc):
    pcc.pcc("daemon", "start")
    before = pcc.engine

    done = pcc.pcc("--config", "gone.toml", "daemon", "restart", check=False)

    assert done.returncode == 1
    assert pcc.engine == before


def test_one_that_gave_up_for_its_file_is_not_ended_for_a_file_that_is_no_better(pcc):
    pcc.pcc("daemon", "start")
    supervisor, engine = pcc.supervisor, pcc.engine
    config = Path(pcc.environment["PERPETUALCC_CONFIG"])
    good = config.read_text()
    config.write_text("[limits\n")
    pcc.kill_engine()
    wait_until(lambda: read_status(pcc.locations).phase is Phase.GAVE_UP, within=60)

    done = pcc.pcc("daemon", "start", check=False)

    assert (done.returncode, "is no TOML" in done.stderr) == (1, True)
    assert pcc.supervisor == supervisor
    config.write_text(good)
    wait_until(lambda: pcc.engine not in {None, engine}, within=60)
    assert pcc.supervisor == supervisor


def test_a_variable_that_the_settings_name_and_the_daemon_does_not_know_is_said(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path)}
    with supervised(tmp_path, environment, tmp_path, "--idle-exit", "60") as pcc:
        config = tmp_path / "pcc" / "config.toml"
        config.write_text('[notifications]\ndesktop = false\nurls = ["env:OUR_HOOK"]\n')
        failed = pcc.pcc("notify", "test", check=False).stdout
        unset = pcc.pcc("doctor", check=False).stdout
        pcc.environment["OUR_HOOK"] = "json://127.0.0.1:9/"
        exported = pcc.pcc("doctor", check=False).stdout
        pcc.pcc("daemon", "restart")
        after = pcc.pcc("doctor", check=False).stdout
        del pcc.environment["OUR_HOOK"]
        elsewhere = pcc.pcc("doctor", check=False).stdout
        anew = pcc.pcc("daemon", "restart").stderr

    assert "'OUR_HOOK' is not set where the daemon was started: export it, then:" in failed
    assert "✗ Notifications: OUR_HOOK not set" in unset
    assert "✗ Environment: The daemon was started without your OUR_HOOK" in exported
    assert "OUR_HOOK" not in after + elsewhere
    assert "note: It had OUR_HOOK, which this terminal has not" in anew


def test_a_mistake_in_the_settings_keeps_nobody_from_a_daemon_that_works(pcc):
    """Who must stop it, or answer it, can; what would need another daemon says why it cannot."""
    session = pcc.start("Wait", "--at", "tomorrow at 3pm", "--session-name", "later")
    Path(pcc.environment["PERPETUALCC_CONFIG"]).write_text("[limits]\nwarn_att = 0.9\n")

    listed = pcc.pcc("list")
    for words in (["pending"], ["pause", "later"], ["resume", "later"], ["stop", "later"]):
        pcc.pcc(*words)
    status = pcc.pcc("daemon", "status").stdout
    started = pcc.pcc("start", ".", "--task", "x", "-d", check=False)
    restart = pcc.pcc("daemon", "restart", check=False)
    engine = pcc.engine
    pcc.pcc("daemon", "stop", "--now")
    stopped = pcc.pcc("list", check=False)

    said = "Unknown key 'limits.warn_att'"
    assert session in listed.stdout
    assert listed.stderr.startswith(f"note: {said}")
    assert "; the daemon works with what the settings were\n" in listed.stderr
    assert listed.stderr.endswith("\nhint:  Did you mean 'limits.warn_at'?\n")
    assert (started.returncode, started.stderr.startswith(f"error: {said}")) == (1, True)
    assert f"\nSettings    {said}" in status
    assert "\nMend it     Did you mean 'limits.warn_at'?\n" in status
    assert (restart.returncode, engine is not None) == (1, True)
    assert (stopped.returncode, stopped.stderr.startswith(f"error: {said}")) == (1, True)
