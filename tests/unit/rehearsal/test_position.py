"""A conversation's place in its scene is read from its history, whatever happened to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.rehearsal import read_scenario
from perpetualcc.rehearsal.position import mark, marked_scene, played_scene, standing, tool_id
from perpetualcc.rehearsal.scenario import Reply, Scene, ToolCall

BASH = ToolCall(name="Bash", input={"command": "ls"})


def _user(text):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def _assistant(reply, step):
    blocks = [{"type": "text", "text": reply.say}] if reply.say else []
    blocks += [
        {"type": "tool_use", "id": tool_id(0, step, call), "name": tool.name, "input": tool.input}
        for call, tool in enumerate(reply.tools)
    ]
    return {"role": "assistant", "content": blocks}


def _results(message, text="done"):
    ids = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": one, "content": text} for one in ids]
    return {"role": "user", "content": results or [{"type": "text", "text": "Go on"}]}


def _history(scene, length):
    messages = [_user("Do it")]
    for step, reply in enumerate(scene.replies[:length]):
        messages.append(_assistant(reply, step))
        messages.append(_results(messages[-1]))
    return messages


_REPLIES = st.builds(
    Reply,
    say=st.sampled_from(["one", "two", "No more."]),
    tools=st.lists(st.just(BASH), max_size=3),
)
_SCENES = st.builds(Scene, name=st.just("s"), replies=st.lists(_REPLIES, min_size=1, max_size=12))


@given(_SCENES, st.data())
def test_the_next_step_is_the_first_that_the_history_does_not_show(scene, data):
    length = data.draw(st.integers(0, len(scene.replies)))

    assert standing(scene, _history(scene, length)).step == length


@given(_SCENES, st.data())
def test_words_that_claude_code_puts_in_itself_do_not_count(scene, data):
    length = data.draw(st.integers(0, len(scene.replies)))
    messages = _history(scene, length)
    synthetic = {"role": "assistant", "content": [{"type": "text", "text": "No response needed."}]}

    place = standing(scene, [*messages, synthetic, _user("Continue")])

    assert place.step == length
    assert "Continue" in place.prompt


def test_half_a_reply_does_not_count():
    scene = Scene(name="s", replies=[Reply(say="A long sentence."), Reply(say="The end.")])
    half = {"role": "assistant", "content": "A long"}

    assert standing(scene, [_user("go"), half, _user("[Request interrupted by user]")]).step == 0


def test_a_text_with_the_project_in_it_is_recognised():
    scene = Scene(name="s", replies=[Reply(say="It is in {project} (now)."), Reply(say="b")])
    said = {"role": "assistant", "content": "It is in /home/me/x (now)."}

    assert standing(scene, [_user("go"), said, _user("more")]).step == 1


def test_the_news_holds_results_and_prompts_and_the_prompt_only_what_was_typed():
    scene = Scene(name="s", replies=[Reply(tools=[BASH]), Reply(say="b")])
    call = _assistant(scene.replies[0], 0)
    reminder = _user("<system-reminder>be kind</system-reminder>And hurry")

    place = standing(scene, [_user("go"), call, _results(call, "a.txt"), reminder])

    assert "a.txt" in place.news
    assert "be kind" in place.news
    assert place.prompt == "And hurry"


def test_a_prompt_that_came_in_the_middle_of_a_turn_counts_as_typed():
    scene = Scene(name="s", replies=[Reply(tools=[BASH]), Reply(say="b")])
    call = _assistant(scene.replies[0], 0)
    words = (
        "The user sent a new message while you were working:\nhurry up\n\nThis is how Claude Code"
    )
    meanwhile = {"role": "system", "content": [{"type": "text", "text": words}]}

    assert standing(scene, [_user("go"), call, _results(call), meanwhile]).prompt == "hurry up"


def test_a_compacted_conversation_goes_on_at_its_mark():
    scene = Scene(name="s", replies=[Reply(say=str(n)) for n in range(9)])

    assert standing(scene, [_user(f"Summary: {mark('s', 7)}")]).step == 7


def test_a_mark_in_a_file_that_a_tool_read_moves_nothing():
    scene = Scene(name="s", replies=[Reply(tools=[BASH]), Reply(say="b"), Reply(say="c")])
    call = _assistant(scene.replies[0], 0)

    assert standing(scene, [_user("go"), call, _results(call, mark("s", 2))]).step == 1


@pytest.mark.parametrize(
    ("prompt", "scene"),
    [("Do [rehearsal: two]", "two"), (f"x {mark('two', 3)}", "two"), ("nothing", None)],
)
def test_a_prompt_may_name_its_scene(prompt, scene):
    assert marked_scene([_user(prompt)]) == scene


def test_the_scene_of_a_history_is_that_of_its_tool_calls():
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": tool_id(4, 0, 0)}]}

    assert played_scene([_user("a"), call]) == 4
    assert played_scene([_user("a")]) is None


STOP = "The user doesn't want to take this action right now. STOP what you are doing"
LEFT = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). STOP what you are doing"
)
UNKNOWN = "[Tool call interrupted: the session ended before this call's result was recorded]"


def _refused(message, text):
    results = _results(message, text)
    results["content"][-1]["is_error"] = True
    return results


@pytest.mark.parametrize("text", [STOP, LEFT, UNKNOWN])
@pytest.mark.parametrize(("once", "step"), [(False, 0), (True, 1)])
def test_a_step_whose_tools_were_cut_off_is_played_again_unless_it_says_once(text, once, step):
    scene = Scene(name="s", replies=[Reply(tools=[BASH, BASH], once=once), Reply(say="b")])
    call = _assistant(scene.replies[0], 0)
    messages = [_user("go"), call, _refused(call, text), _user("Continue")]

    assert standing(scene, messages).step == step


def test_a_question_that_was_left_is_asked_again_unless_the_next_prompt_answers_it():
    ask = ToolCall(name="AskUserQuestion", input={"questions": [{"question": "Which one?"}]})
    scene = Scene(name="s", replies=[Reply(tools=[ask]), Reply(say="b")])
    call = _assistant(scene.replies[0], 0)
    left = [_user("go"), call, _refused(call, LEFT)]

    assert standing(scene, [*left, _user("Continue")]).step == 0
    assert standing(scene, [*left, _user("A person answered: Which one? The first")]).step == 1


def test_a_step_that_was_played_again_is_behind():
    scene = Scene(name="s", replies=[Reply(tools=[BASH]), Reply(say="b")])
    first, second = _assistant(scene.replies[0], 0), _assistant(scene.replies[0], 0)
    messages = [_user("go"), first, _refused(first, UNKNOWN), _user("Continue"), second]

    assert standing(scene, [*messages, _results(second)]).step == 1


def test_a_model_is_told_to_stop_until_somebody_comes():
    scene = Scene(name="s", replies=[Reply(tools=[BASH]), Reply(say="b")])
    call = _assistant(scene.replies[0], 0)
    messages = [_user("go"), call, _refused(call, STOP)]

    assert standing(scene, messages).told_to_stop
    assert not standing(scene, [*messages, _user("Continue")]).told_to_stop
    assert not standing(scene, messages[:1]).told_to_stop


def test_a_thousand_steps_are_placed_in_a_moment():
    scene = read_scenario("steps: [{repeat: 1000, tools: [{Bash: {command: ls}}]}]").scenes[0]

    assert standing(scene, _history(scene, 1000)).step == 1000
