"""What a person types in `pcc attach` stays whole, whatever happens meanwhile."""

import shlex
import shutil
import subprocess
import time

import pytest

from tests.acceptance.supervised import wait_until
from tests.acceptance.terminals import CTRL_C, CTRL_D, terminal
from tests.acceptance.tmux import window

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

BUSY = """
steps:
  - repeat: 400
    delay: 200ms
    say: "Step {n}."
    tools: [{Write: {file_path: "{project}/src/part_{n}.py", content: "n = {n}"}}]
  - All done.
"""
QUESTION = """
steps:
  - tools: [{Bash: {command: "until test -e go; do sleep 0.1; done"}}]
  - ask: [{question: "Which one?", options: [SQLite, PostgreSQL]}]
  - say: Chosen.
"""
SAY = "   Say to Claude > "


@pytest.fixture
def busy(install):
    pcc = install(BUSY)
    session = pcc.start("Work", "--session-name", "mine")
    yield pcc, session
    pcc.pcc("stop", session)


def words(pcc, session):
    return [one["text"] for one in pcc.events(session, "WordSaid")]


def typed_on(screen: str) -> str:
    """What stands on the line that is typed on: the last on the screen, whole."""
    assert screen.count(SAY.rstrip()) == 1, screen
    return "".join(screen.partition(SAY)[2].splitlines())


def below_it(pcc, session, count=3):
    """So many more things have happened."""
    seen = len(pcc.events(session, "TextSaid"))
    wait_until(lambda: len(pcc.events(session, "TextSaid")) >= seen + count)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="a terminal that draws is needed")
def test_a_line_that_is_typed_is_whole_below_what_happens(busy, tmp_path):
    pcc, session = busy
    attach = pcc.command("attach", "mine")
    with window(attach, pcc.project, pcc.environment, tmp_path / "tmux") as screen:
        screen.wait_for("Type to say something to Claude")
        screen.wait_for("Step ")
        for part in ("use the v2 ", "endpoint of 世界", "界界", "!"):
            screen.keys(part)
            below_it(pcc, session, 1)
        for _ in range(3):
            screen.press("BSpace")
        for key in ("Left", "Up", "Home", "F5", "Escape"):
            screen.press(key)
        screen.keys(" 🚀" + "x" * 150)
        below_it(pcc, session)
        line = "use the v2 endpoint of 世界 🚀" + "x" * 150
        wait_until(lambda: typed_on(screen.screen) == line)

        for columns in (50, 100, 60):
            screen.resize(columns)
            below_it(pcc, session)
            wait_until(lambda: typed_on(screen.screen) == line)
        screen.resize(120)
        for _ in range(150):
            screen.press("BSpace")
        screen.press("Enter")
        screen.wait_for("It reaches Claude at its next step.")

        screen.paste("first line\nsecond 行\n")
        below_it(pcc, session)
        wait_until(lambda: "first line⏎second 行⏎" in screen.screen)
        assert len(words(pcc, session)) == 1, "a line end that is pasted sends nothing"
        screen.press("Enter")
        wait_until(lambda: len(words(pcc, session)) == 2)

    assert words(pcc, session) == ["use the v2 endpoint of 世界 🚀", "first line\nsecond 行"]


def test_erasing_leaving_and_stopping_are_as_on_every_terminal(busy):
    pcc, session = busy
    with terminal(pcc.command("attach", "mine"), pcc.environment) as screen:
        screen.wait_for("Step ")
        screen.type("wrong \x15one two three\x17\x17two\x08\x7fhree\x1b[D\x1b")
        screen.type("\n")
        screen.wait_for('You said: "one three"')
        screen.type("not this")
        screen.wait_for("not this")
        screen.type(CTRL_D)
        screen.wait_for("Nothing was said.")
        screen.type(CTRL_D)
        screen.wait_for("[y/N] ")
        below_it(pcc, session)
        screen.type("no\n")
        screen.wait_for("Not stopped.")
        screen.type("half a sen")
        screen.wait_for("half a sen")
        screen.type(CTRL_C)
        assert screen.wait() == 0

    assert "Not sent: half a sen\n" in screen.seen
    assert words(pcc, session) == ["one three"]


def test_the_terminal_is_given_back_as_it_was(busy, tmp_path):
    pcc, _ = busy
    before, after = tmp_path / "before", tmp_path / "after"
    attach = shlex.join(pcc.command("attach", "mine"))
    script = f"trap : INT; stty -a >{before}; {attach}; stty -a >{after}; echo the end"
    with terminal(["/bin/sh", "-c", script], pcc.environment) as screen:
        screen.wait_for("Step ")
        screen.type("half")
        screen.wait_for("half")
        screen.type(CTRL_C)
        screen.wait_for("the end")

    assert "icanon" in before.read_text()
    assert after.read_text() == before.read_text()
    assert screen.seen.count("\x1b[?2004h") == screen.seen.count("\x1b[?2004l") == 1


def test_a_question_that_comes_under_the_fingers_waits_for_the_line_that_is_typed(install):
    pcc = install(QUESTION)
    session = pcc.start("Choose", "--session-name", "mine")
    pcc.wait_for_event(session, "ToolDecided")
    with terminal(pcc.command("attach", "mine"), pcc.environment) as screen:
        screen.wait_for("[TOOL]")
        screen.type("2")
        screen.wait_for(SAY + "2")
        (pcc.project / "go").touch()
        screen.wait_for("Waits for you (#1)")
        assert "[1-2] Select" not in screen.seen
        screen.type(" is too many\n")
        screen.wait_for("[1-2] Select")
        screen.type("2\n")
        assert screen.wait() == 0

    assert words(pcc, session) == ["2 is too many"]
    assert "You answered #1: PostgreSQL" in screen.seen


@pytest.mark.parametrize("way", ["dumb", "no terminal"])
def test_where_nothing_can_be_drawn_anew_the_terminal_keeps_the_line(busy, way):
    pcc, session = busy
    command = pcc.command("attach", "mine")
    if way == "no terminal":
        with subprocess.Popen(
            command, env=pcc.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        ) as log:  # fmt: skip
            assert log.stdout is not None
            below_it(pcc, session)
            log.terminate()
            assert b"\x1b" not in log.stdout.read()
        return
    dumb = ["/bin/sh", "-c", 'TERM=dumb exec "$@"', "sh", *command]
    with terminal(dumb, pcc.environment) as screen:
        screen.wait_for("Enter to say something to Claude")
        screen.wait_for("Step ")
        screen.type("\n")
        screen.wait_for(SAY)
        torn = screen.seen
        screen.type("use v2")
        below_it(pcc, session)
        screen.type("!\n")
        screen.wait_for("You said: ")
        screen.type(CTRL_C)
        assert screen.wait() == 0

    assert screen.seen.startswith(f"{torn}use v2!\n"), "what happens is shown when it is sent"
    assert "\x1b" not in screen.seen
    assert words(pcc, session) == ["use v2!"]


def test_what_is_typed_outlives_the_daemon(busy):
    pcc, session = busy
    with terminal(pcc.command("attach", "mine"), pcc.environment) as screen:
        screen.wait_for("Step ")
        screen.type("use the v2")
        screen.wait_for("use the v2")
        pcc.kill_engine()
        screen.wait_for("Cut off")
        time.sleep(0.5)
        screen.type(" endpoint\n")
        screen.wait_for('You said: "use the v2 endpoint"')
        screen.type(CTRL_C)
        assert screen.wait() == 0

    assert words(pcc, session) == ["use the v2 endpoint"]
