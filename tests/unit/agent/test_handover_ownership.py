"""Two sessions in one project, and one folder for handovers."""

from dataclasses import replace
from pathlib import Path

import pytest

from perpetualcc.agent.endings import RunFacts
from perpetualcc.agent.inbox import Order, Said, ToolEnded
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import ProblemNoticed
from perpetualcc.domain.ids import RequestId, SessionId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Perpetual
from perpetualcc.domain.tasks import Again, Done, Later
from tests.unit.agent.test_handover_watch import Stage, folder, play, write_document


class Sessions:
    """Who there is, for every stage that shares it."""

    def __init__(self):
        self.known = {}

    async def find(self, session):
        if session not in self.known:
            raise PerpetualError("There is no such session")
        return self.known[session]


def stage(project: Path, sessions: Sessions, name: str, *, perpetual=None) -> Stage:
    made = Stage(project, perpetual=perpetual, window=200_000)
    made.session = replace(made.session, id=SessionId(name), name=name)
    sessions.known[name] = made.session
    made.records.session = sessions.find
    return made


@pytest.fixture
def sessions():
    return Sessions()


def ends(sessions, name, status):
    sessions.known[name] = replace(sessions.known[name], status=status)


WARNED, FULL = Said(text="", context_tokens=160_000), Said(text="", context_tokens=176_000)


def test_a_session_neither_takes_nor_reads_what_another_has_there(tmp_path, sessions):
    async def story():
        red = stage(tmp_path, sessions, "red", perpetual=Perpetual())
        await red.begin()
        await red.see(Said(text="", context_tokens=95_000))
        write_document(red, summary="Of red.", next_steps=("Red goes on",))
        (folder(red) / "trigger.flag").touch()

        blue = stage(tmp_path, sessions, "blue")
        await blue.begin()
        await blue.tick()
        assert blue.orders() == [], "the trigger is red's"
        await blue.see(WARNED)
        assert "plain text" in blue.claude.reminders[0]
        assert "'red' (red) hands over in" in blue.kinds(ProblemNoticed)[0].text
        await blue.see(FULL)
        await blue.watch.conclude(Later(due=0, reason="x"), RunFacts(order=Order.HAND_OVER))

        assert "red" not in blue.records.rows[1].document.lower()
        assert blue.records.rows[1].findings == ()
        assert "Of red." in (folder(red) / "handover.md").read_text()
        outcome = await red.watch.conclude(Done(result=""), RunFacts())
        assert isinstance(outcome, Again)
        assert "Red goes on" in red.records.rows[1].document

    play(story())


@pytest.mark.parametrize("status", [SessionStatus.PAUSED, SessionStatus.RATE_LIMITED])
def test_a_perpetual_session_is_refused_where_another_has_not_ended(tmp_path, sessions, status):
    async def story():
        red = stage(tmp_path, sessions, "red", perpetual=Perpetual())
        await red.begin()
        ends(sessions, "red", status)
        blue = stage(tmp_path, sessions, "blue", perpetual=Perpetual())
        with pytest.raises(PerpetualError, match="'red'") as asked:
            await blue.handovers.plan_start(tmp_path, {})
        with pytest.raises(PerpetualError, match="'red'"):
            await blue.begin()
        assert "pcc add red" in (asked.value.hint or "")

    play(story())


@pytest.mark.parametrize("status", [SessionStatus.COMPLETED, SessionStatus.ERROR])
def test_what_an_ended_session_left_is_set_aside(tmp_path, sessions, status):
    async def story():
        red = stage(tmp_path, sessions, "red", perpetual=Perpetual())
        await red.begin()
        write_document(red, summary="Of red.")
        (folder(red) / "archive").mkdir()
        ends(sessions, "red", status)

        blue = stage(tmp_path, sessions, "blue", perpetual=Perpetual())
        await blue.handovers.plan_start(tmp_path, {})
        await blue.begin()

        assert (folder(blue) / "archive-red").is_dir()
        assert "Of red." not in (folder(blue) / "handover.md").read_text()

    play(story())


def test_the_folder_of_a_copied_project_is_nobodys(tmp_path, sessions):
    async def story():
        red = stage(tmp_path / "elsewhere", sessions, "red", perpetual=Perpetual())
        (tmp_path / "elsewhere").mkdir()
        await red.begin()
        folder(red).rename(tmp_path / ".claude-handover")

        blue = stage(tmp_path, sessions, "blue", perpetual=Perpetual())
        await blue.begin()
        assert '"session": "blue"' in (folder(blue) / "state.json").read_text()

    play(story())


@pytest.mark.parametrize("loss", ["cleaned away", "a file in its place", "damaged"])
def test_a_document_that_is_lost_again_still_says_that_there_is_more_to_do(tmp_path, loss):
    """As by `git clean -fdx`: Claude tidies up and ends its turn."""

    async def story():
        one = Stage(tmp_path, perpetual=Perpetual())
        await one.begin()
        await one.see(Said(text="", context_tokens=95_000))
        write_document(one, next_steps=("Build two",))
        await one.see(ToolEnded(request=RequestId("w"), is_error=False, text="ok"))
        if loss == "damaged":
            (folder(one) / "handover.md").write_bytes(b"\xff")
            (folder(one) / "handover.last-good.md").unlink()
        else:
            folder(one).rename(tmp_path / "gone")
            if loss == "a file in its place":
                folder(one).write_text("")

        outcome = await one.watch.conclude(Done(result="ok"), RunFacts())

        assert isinstance(outcome, Again)
        assert "Build two" in one.records.rows[1].document

    play(story())


def test_a_document_that_nobody_was_asked_for_is_not_called_lost(tmp_path, sessions):
    """A person's trigger in an ordinary session, which has no folder yet."""

    async def story():
        one = stage(tmp_path, sessions, "one")
        await one.begin()
        folder(one).mkdir()
        (folder(one) / "trigger.flag").touch()
        await one.tick()
        await one.watch.conclude(Later(due=0, reason="x"), RunFacts(order=Order.HAND_OVER))

        assert one.records.rows[1].findings == ()

    play(story())
