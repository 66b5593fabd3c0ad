"""What each request hears: its own scene, its own step, and the failures that come first."""

from types import SimpleNamespace

import pytest

from perpetualcc.rehearsal import read_scenario
from perpetualcc.rehearsal.director import (
    NO_MORE_STEPS,
    NO_SCENE,
    WAITS,
    Caller,
    Director,
    project_directory,
)
from perpetualcc.rehearsal.records import Recorded
from tests.fakes.clock import FakeClock

ME = Caller(session="me")


def _asked(*texts):
    """A request whose history is `texts`: a prompt, a reply, a prompt, and so on."""
    roles = ["user", "assistant"]
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return {"messages": messages, "tools": [{"name": "Bash"}]}


def _director(text):
    return Director(read_scenario(text))


@pytest.fixture
def clock(monkeypatch):
    """The director's, which only the test moves: a machine may stand still for a while."""
    clock = FakeClock()
    monkeypatch.setattr("perpetualcc.rehearsal.director.time", SimpleNamespace(time=clock.now))
    return clock


def test_each_conversation_plays_the_scene_its_first_prompt_asks_for():
    director = _director(
        """
        scenes:
          - {when: parser, steps: [Parsing., Parsed.]}
          - {when: "/lexer|scanner/", steps: [Scanning.]}
        """
    )

    assert director.cue(_asked("Build a parser"), ME).reply.say == "Parsing."
    assert director.cue(_asked("Build a scanner"), ME).reply.say == "Scanning."
    assert director.cue(_asked("Build a parser", "Parsing.", "scanner"), ME).reply.say == "Parsed."


def test_a_prompt_for_which_there_is_no_scene_is_told_so():
    cue = _director("scenes: [{when: parser, steps: [a]}]").cue(_asked("Cook"), ME)

    assert (cue.reply.say, cue.overflow) == (NO_SCENE, True)


def test_scenes_without_a_prompt_are_given_out_in_order_and_the_last_to_all_that_follow():
    director = _director("scenes: [{steps: [One.]}, {steps: [Two.]}]")

    heard = [
        director.cue(_asked("go"), Caller(session=who)).reply.say for who in ["a", "b", "a", "c"]
    ]

    assert heard == ["One.", "Two.", "One.", "Two."]


def test_a_prompt_may_choose_its_scene_by_name():
    director = _director("scenes: [{when: Do, steps: [One.]}, {name: two, steps: [Two.]}]")

    assert director.cue(_asked("Do it [rehearsal: two]"), ME).reply.say == "Two."


def test_a_script_that_has_run_out_says_so():
    cue = _director("steps: [One.]").cue(_asked("go", "One.", "more"), ME)

    assert (cue.reply.say, cue.overflow, cue.told) == (NO_MORE_STEPS, True, "overflow")


def test_a_request_without_tools_is_not_part_of_the_story():
    cue = _director("steps: [One.]").cue({"messages": [{"role": "user", "content": "Title?"}]}, ME)

    assert (cue.told, cue.reply.say) == ("aside", "Done.")


def test_an_agent_plays_a_scene_only_when_its_prompt_asks_for_one():
    director = _director("scenes: [{steps: [Main.]}, {when: look, steps: [Looking.]}]")
    agent = Caller(session="me", agent="a1")

    assert director.cue(_asked("look around"), agent).reply.say == "Looking."
    assert director.cue(_asked("something else"), agent).told == "aside"


def test_the_story_waits_for_its_prompt_and_jumps_to_it():
    director = _director(
        "steps: [One., Skipped., {on_prompt: tests, say: Testing.}, {on_prompt: ship, say: Ship.}]"
    )

    assert director.cue(_asked("go", "One.", "run the tests"), ME).reply.say == "Testing."
    assert director.cue(_asked("go", "One.", "now ship it"), ME).reply.say == "Ship."
    shipped = director.cue(_asked("go", "One.", "now ship it", "Ship.", "and now"), ME)
    assert shipped.reply.say == NO_MORE_STEPS
    waiting = director.cue(_asked("go", "One.", "go", "Skipped.", "hm"), ME)
    assert (waiting.reply.say, waiting.overflow) == (WAITS, True)


def test_an_expectation_that_is_not_met_is_reported_with_its_line_and_the_story_goes_on():
    director = _director("steps:\n  - One.\n  - say: Two.\n    expect: [yes, /n.*o/]")

    cue = director.cue(_asked("go", "One.", "yes"), ME)

    assert cue.reply.say == "Two."
    assert cue.mismatches == ["scenario, line 3: expected '/n.*o/', got 'yes'"]


@pytest.mark.parametrize("kind", ["overloaded", "server_error", "rate_limit", "broken_stream"])
def test_a_failure_is_met_as_often_as_it_says(kind):
    director = _director(f"steps: [{{fail: {{kind: {kind}, times: 2}}}}, One.]")

    assert [director.cue(_asked("go"), ME).told for _ in range(4)] == [kind, kind, "reply", "reply"]


def test_every_conversation_meets_its_own_failures():
    director = _director("steps: [{fail: overloaded}, One.]")

    told = [director.cue(_asked("go"), Caller(session=who)).told for who in ["a", "b", "a", "b"]]

    assert told == ["overloaded", "overloaded", "reply", "reply"]


def test_a_usage_limit_holds_until_its_reset_however_often_one_asks(clock):
    director = _director("steps: [{fail: {kind: usage_limit, in: 200ms}}, One.]")

    told = [director.cue(_asked("go"), ME).told for _ in range(3)]
    clock.move(0.25)

    assert told == ["usage_limit"] * 3
    assert director.cue(_asked("go"), ME).told == "reply"


def test_a_usage_limit_for_everyone_stops_the_others_too(clock):
    director = _director(
        """
        scenes:
          - {when: one, steps: [{fail: {kind: usage_limit, in: 200ms, everyone: true}}, One.]}
          - {when: two, steps: [Two.]}
        """
    )
    other = Caller(session="other")

    assert director.cue(_asked("two"), other).told == "reply"
    assert director.cue(_asked("one"), ME).told == "usage_limit"
    assert director.cue(_asked("two"), other).told == "usage_limit"
    clock.move(0.25)
    assert director.cue(_asked("two"), other).told == "reply"


def test_the_accounts_limit_comes_once_whoever_meets_it_first(clock):
    text = "steps: [{fail: {kind: usage_limit, in: 200ms, everyone: true}}, One.]"
    director, others = _director(text), [Caller(session=f"s{n}") for n in range(3)]

    told = [director.cue(_asked("go"), other).told for other in others]
    clock.move(0.25)
    later = [director.cue(_asked("go"), other).told for other in others]

    assert told == ["usage_limit"] * 3
    assert later == ["reply"] * 3


def test_a_restarted_server_does_not_fail_again():
    text = "steps: [{fail: overloaded}, {fail: {kind: usage_limit, in: 1h}}, One.]"
    director = _director(text)
    first = director.cue(_asked("go"), ME)
    restarted = _director(text)

    restarted.recall(
        Recorded(
            number=1, at=0, path="", headers={}, raw=b"", session="me", scene="scene 1", step=0,
            told=first.told, failure=0,
        )
    )  # fmt: skip

    assert first.told == "overloaded"
    assert restarted.cue(_asked("go"), ME).told == "usage_limit"


def test_the_request_itself_fills_in_project_and_prompt():
    director = _director("steps: [{say: '{prompt}!', tools: [{Read: {file_path: '{project}/a'}}]}]")
    asked = _asked("Hurry")
    asked["messages"].append({"role": "system", "content": "Env\n - Primary working directory: /p"})

    reply = director.cue(asked, ME).reply

    assert (reply.say, reply.tools[0].input) == ("Hurry!", {"file_path": "/p/a"})


def test_a_request_that_names_no_directory_means_the_current_one():
    assert project_directory({"messages": []}) == "."


def test_a_conversation_that_is_compacted_keeps_its_place():
    director = _director("steps: [One., Two., Three.]")
    please = "Your task is to create a detailed summary of the conversation"

    summary = director.cue(_asked("go", "One.", "more", "Two.", please), ME).reply.say

    assert summary.startswith("<summary>")
    assert director.cue(_asked(summary), ME).reply.say == "Three."
