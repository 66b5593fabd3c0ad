"""What a person says during a run is given once, and not forgotten until it was heard."""

import asyncio

import pytest

from perpetualcc.agent import background
from perpetualcc.agent.endings import outcome_of
from perpetualcc.agent.inbox import (
    ClockTicked,
    MessageEnded,
    Order,
    Said,
    Spoken,
    Started,
    Told,
    TurnEnded,
)
from perpetualcc.agent.prompts import continuation, told_words
from perpetualcc.domain.tasks import Done
from tests.unit.agent.test_supervision import LAUNCH, TASK, World, ended, play, wants

BEGINS = Started(model="m", permission_mode="default", version="1")
ENDS = TurnEnded(is_error=False, subtype="success", result="Nearly.", turns=1)


def said(world: World, text: str = "use v2") -> str:
    """A word that was given; the message that it is in."""
    world.words.say(text, TASK.id)
    play(world, Spoken())
    return list(world.claude.said)[-1]


def turn(*heard: str, result: str = "Mended.", turns: int = 1, is_error: bool = False) -> TurnEnded:
    return TurnEnded(
        is_error=is_error, subtype="success", result=result, turns=turns, heard=tuple(heard)
    )


def outcome(world: World):
    return outcome_of(world.facts, TASK, now=0.0)


def test_a_word_is_written_down_as_given_and_given_once():
    world = play(World(), BEGINS)

    said(world)
    play(world, Spoken(), BEGINS, Said(text="I go on."))

    assert list(world.claude.said.values()) == ["use v2"]
    [word] = world.words.said
    assert (word.state, word.conversation) == ("given", LAUNCH.claude_session)
    assert word.message in world.claude.said


def test_words_that_come_before_claude_is_there_wait_for_it():
    world = World()
    for text in ("first", "second"):
        world.words.say(text, TASK.id)
    play(world, Spoken())
    assert world.claude.said == {}

    play(world, BEGINS)

    assert list(world.claude.said.values()) == ["first", "second"]


@pytest.mark.parametrize("order", Order)
def test_a_run_that_is_told_to_end_is_told_nothing_more(order):
    world = play(World(), BEGINS, wants("w"), Told(order=order))
    world.words.say("use v2", TASK.id)

    play(world, Spoken())

    assert world.claude.said == {}
    assert world.words.states() == ["waiting"]


def test_a_turn_that_took_a_word_in_is_the_last():
    world = play(World(), BEGINS)
    message = said(world)

    play(world, MessageEnded(message=message), turn(LAUNCH.message, message))

    assert world.words.states() == ["used"]
    assert world.run.is_over
    assert outcome(world) == Done(result="Mended.")


def test_a_turn_that_ends_before_a_word_is_heard_is_not_the_last():
    world = play(World(), BEGINS)
    message = said(world)

    play(world, ENDS, ClockTicked())
    assert not world.run.is_over
    assert world.words.states() == ["given"]
    assert "BackgroundAwaited" not in world.journal.kinds()

    play(world, BEGINS, turn(message))
    assert world.run.is_over
    assert outcome(world) == Done(result="Mended.")
    assert world.facts.turn.turns == 2
    assert world.words.states() == ["used"]


def test_a_word_that_begins_no_turn_is_left_for_the_next_run(monkeypatch):
    monkeypatch.setattr(background, "_WORD", 0.0)
    world = play(World(), BEGINS)
    said(world)

    play(world, ENDS, ClockTicked())

    assert world.run.is_over
    assert outcome(world) == Done(result="Nearly.")
    assert world.words.states() == ["given"]


def test_a_turn_that_fails_is_no_proof_that_a_word_was_heard():
    world = play(World(), BEGINS)
    message = said(world)

    play(world, turn(message, is_error=True))

    assert world.words.states() == ["given"]


def test_a_hook_that_stops_a_word_in_the_middle_of_a_turn_is_told():
    world = play(World(), BEGINS)
    message = said(world)

    play(world, MessageEnded(message=message), turn(LAUNCH.message, result="Done."))

    assert world.run.is_over
    assert outcome(world) == Done(result="Done.")
    assert world.words.states() == ["used"]
    assert "A hook of the settings kept what you said" in world.journal.written[-1].text


def test_a_hook_that_stops_a_word_between_turns_fails_no_work():
    world = play(World(), BEGINS)
    message = said(world)
    stopped = turn(message, result="blocked by hook:\nno such words", turns=0, is_error=True)

    play(world, ENDS, stopped)

    assert world.run.is_over
    assert outcome(world) == Done(result="Nearly.")
    assert world.words.states() == ["used"]
    [problem] = [one.text for one in world.journal.written if one.kind == "ProblemNoticed"]
    assert problem.endswith("from Claude: blocked by hook:")


def test_whoever_is_told_something_goes_in_no_circle():
    world = play(World(), BEGINS)
    for n in range(5):
        play(world, wants(f"w{n}", file_path="/tmp/project/a"), ended(f"w{n}"))
    said(world)
    play(world, wants("w5", file_path="/tmp/project/a"), ended("w5"))

    assert world.facts.stuck == ""


def test_a_prompt_tells_what_no_run_could_take_and_a_fresh_one_what_was_said_before():
    world = play(World(), BEGINS)
    first = said(world, "always pnpm\nnever npm")
    said(world, "use v2")
    play(world, turn(first))
    world.words.say("and be quick", TASK.id)

    resumed = told_words(world.words.said, is_fresh=False)
    fresh = told_words(world.words.said, is_fresh=True)

    assert resumed == (
        "Meanwhile the user said to you:\n"
        "- (You may have been told this before.) use v2\n- and be quick"
    )
    assert fresh == (
        "While this task was worked on before, the user said, and it still holds:\n"
        f"- always pnpm\n  never npm\n\n{resumed}"
    )
    assert told_words([], is_fresh=True) == ""
    assert continuation([], "Changed: a", "", resumed).endswith(f"Changed: a\n\n{resumed}")


def test_what_the_prompt_told_is_used_when_its_turn_has_ended():
    world = World()
    word = world.words.say("use v2", TASK.id)
    asyncio.run(world.words.give([word.number], LAUNCH.message, LAUNCH.claude_session))
    world.run.words._given = {LAUNCH.message: (word.number,)}

    play(world, BEGINS, turn(LAUNCH.message))

    assert world.words.states() == ["used"]
    assert world.run.is_over
