"""A scenario file is read whole, or refused with its line, its key and what to type instead."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.rehearsal import load_scenario, read_scenario, shipped_scenario
from perpetualcc.rehearsal.schema import SECTIONS

MISTAKES = [
    ("", 1, "the file is empty"),
    ("steps: [", 1, "not YAML"),
    ("a: b: c", 1, "not YAML"),
    ("- one\n- two", 1, "`scenario` must be a table of keys, not a list"),
    ("name: x", 1, "either `steps` or `scenes`"),
    ("steps: [hello]\nscenes: []", 1, "either `steps` or `scenes`"),
    ("scenes: []", 1, "`scenes` is empty"),
    ("steps:\n  - sya: hello", 2, "unknown key `sya` in a step"),
    ("steps:\n  - say: a\n    say: b", 3, "the key `say` is given twice"),
    ("steps:\n  - usage: {imput: 1}", 2, "unknown key `imput` in a usage"),
    ("steps:\n  - say: a\n    usage: {input: many}", 3, "`input` must be a whole number"),
    ("steps:\n  - say: a\n    usage: {input: true}", 3, "`input` must be a whole number"),
    ("steps:\n  - say: a\n    usage: {input: -1}", 3, "`input` cannot be negative"),
    ("steps:\n  - say: a\n    delay: soon", 3, "`delay` must be a duration, not 'soon'"),
    ("steps:\n  - say: [a]", 2, "`say` must be a text, not a list"),
    ("steps:\n  - expect: /(/\n    say: a", 2, "`expect` is not a regular expression"),
    ("steps:\n  - tools: [ls]", 2, "a tool is written `Name: {input}`"),
    ("steps:\n  - tools: [{Bash: ls}]", 2, "the input of `Bash` must be a table"),
    ("steps:\n  - delay: 1s", 2, "a step needs `say`"),
    ("steps:\n  - {fail: overloaded, say: a}", 2, "`fail` stands alone"),
    ("steps:\n  - fail: explosion", 2, "`fail` needs a `kind`, one of"),
    ("steps:\n  - steps: [a]", 2, "`steps` in a step goes with `repeat`"),
    ("steps:\n  - say: a\n  - ask: {question: Which}", 3, "a question needs"),
    ("steps:\n  - ask: {question: W, options: [{label: a}, {}]}", 2, "an option needs a `label`"),
    ("steps:\n  - ask:\n      question: W?\n      multi_select: 3", 4, "must be a true or false"),
    ("scenes:\n  - name: a", 2, "a scene needs `steps`"),
    ("scenes:\n  - {name: a, steps: [x]}\n  - {name: a, steps: [x]}", 2, "two scenes are called"),
    ("files: {../a: b}\nsteps: [x]", 1, "the file '../a' is outside the project"),
    ("files: {/etc/a: b}\nsteps: [x]", 1, "the file '/etc/a' is outside the project"),
    ("files: [a]\nsteps: [x]", 1, "`files` must be a table"),
    ("steps:\n  - {repeat: 200000, say: a}", 2, "a scene has at most"),
]


@pytest.mark.parametrize(("text", "line", "problem"), MISTAKES)
def test_a_mistake_is_named_with_its_file_and_line(text, line, problem):
    with pytest.raises(PerpetualError) as caught:
        read_scenario(text, source="story.yaml")

    assert caught.value.message.startswith(f"story.yaml, line {line}: ")
    assert problem in caught.value.message


def test_an_unknown_key_is_answered_with_the_nearest_one():
    with pytest.raises(PerpetualError) as caught:
        read_scenario("steps:\n  - on_promt: next\n    say: a")

    assert caught.value.hint == "Did you mean `on_prompt`?"


def test_a_key_that_is_like_none_is_answered_with_all():
    with pytest.raises(PerpetualError) as caught:
        read_scenario("steps:\n  - usage: {zzz: 1}")

    assert caught.value.hint == "Known keys: input, output, cache_read, cache_write"


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_is_an_error_with_a_hint(tmp_path, content):
    path = tmp_path / "story.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(PerpetualError) as caught:
        load_scenario(path)

    assert str(path) in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("written", "meant"),
    [("250ms", 0.25), ("2s", 2), ("1.5s", 1.5), ("3", 3), ("2m", 120), ("1h", 3600), ("1d", 86400)],
)
def test_durations_are_written_as_people_write_them(written, meant):
    scenario = read_scenario(f"steps: [{{say: a, delay: {written}}}]")

    assert scenario.scenes[0].replies[0].delay == timedelta(seconds=meant)


def test_a_step_takes_its_usage_from_the_scene_and_that_from_the_scenario():
    scenario = read_scenario(
        """
        usage: {input: 1, output: 2}
        scenes:
          - usage: {output: 3}
            steps: [{say: a, usage: {cache_read: 4}}]
        """
    )

    usage = scenario.scenes[0].replies[0].usage

    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (1, 3, 4, 0)


def test_a_repeat_counts_everywhere_in_its_steps():
    scenario = read_scenario(
        """
        steps:
          - repeat: 2
            steps:
              - say: Part {n}
                usage: {input: "{n}000"}
                tools: [{Write: {file_path: "{project}/{n:03}.txt", content: "{x}"}}]
              - {repeat: 2, say: "inner {n}"}
          - The end of {n}.
        """
    )

    replies = scenario.scenes[0].replies

    assert [reply.say for reply in replies] == [
        "Part 1", "inner 1", "inner 2", "Part 2", "inner 1", "inner 2", "The end of {n}."
    ]  # fmt: skip
    assert replies[3].usage.input == 2000
    assert replies[3].tools[0].input == {"file_path": "{project}/002.txt", "content": "{x}"}


def test_ten_thousand_repeats_are_a_short_file():
    scenario = read_scenario("steps: [{repeat: 10000, tools: [{Bash: {command: 'echo {n}'}}]}]")

    assert scenario.scenes[0].replies[-1].tools[0].input == {"command": "echo 10000"}


def test_a_failure_belongs_to_the_reply_after_it():
    scenario = read_scenario(
        "steps: [One., {fail: overloaded}, {fail: {kind: http, status: 403}}, Two., {fail: http}]"
    )

    replies = scenario.scenes[0].replies

    assert [[one.kind for one in reply.failures] for reply in replies] == [
        [], ["overloaded", "http"], ["http"]
    ]  # fmt: skip
    assert replies[2].say == "Done."


def test_a_scenario_may_be_given_as_a_mapping():
    given_as_text = read_scenario("steps: [{say: a, expect: [b, /c/]}]")
    given_as_data = read_scenario({"steps": [{"say": "a", "expect": ["b", "/c/"]}]})

    by_text, by_data = given_as_text.scenes[0].replies[0], given_as_data.scenes[0].replies[0]

    assert by_data == replace(by_text, line=by_data.line)


def test_a_question_becomes_the_input_of_the_asking_tool():
    scenario = read_scenario(
        "steps: [{ask: {question: 'Which one?', options: [A, {label: B, description: bee}]}}]"
    )

    call = scenario.scenes[0].replies[0].tools[0]

    assert call.name == "AskUserQuestion"
    assert call.input["questions"] == [
        {
            "question": "Which one?",
            "header": "Which",
            "options": [
                {"label": "A", "description": "A"},
                {"label": "B", "description": "bee"},
            ],
            "multiSelect": False,
        }
    ]


@pytest.mark.parametrize("name", ["demo", "question", "limit", "parallel"])
def test_every_shipped_scenario_can_be_played(name):
    scenario = load_scenario(shipped_scenario(name))

    assert scenario.name == name
    assert scenario.description
    assert scenario.prompt


def test_an_unknown_shipped_scenario_is_answered_with_the_known_ones():
    with pytest.raises(PerpetualError) as caught:
        shipped_scenario("tragedy")

    assert caught.value.hint == "Known: demo, limit, parallel, question"


_WORDS = sorted({key.name for keys in SECTIONS.values() for key in keys} | {"zz", "kind"})
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 50) | st.sampled_from(["a", "1s", "/(/", "{n}"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_VALUES.filter(lambda value: isinstance(value, dict)))
def test_any_file_is_read_or_refused_with_a_line(data):
    try:
        scenario = read_scenario({"steps": ["x"], **data}, source="f")
    except PerpetualError as error:
        assert error.message.startswith("f, line ")  # noqa: PT017  # both ends are allowed
    else:
        assert scenario.scenes
