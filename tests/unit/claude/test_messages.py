"""What the SDK says becomes what may arrive in an inbox; odd shapes become nothing, or defaults."""

from dataclasses import replace

import claude_agent_sdk as sdk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.agent.inbox import (
    BackgroundChanged,
    LimitReported,
    MessageEnded,
    Said,
    Started,
    ToolEnded,
    TroubleReported,
    TurnEnded,
)
from perpetualcc.claude.messages import arrivals, questions
from perpetualcc.domain.limits import WindowUse
from perpetualcc.domain.questions import Option, Question

USAGE = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 40,
    "cache_read_input_tokens": 500,
    "output_tokens": 6,
}


def assistant(*blocks, **more) -> sdk.AssistantMessage:
    return sdk.AssistantMessage(content=list(blocks), **{"model": "claude-x", **more})


def result(**more) -> sdk.ResultMessage:
    return sdk.ResultMessage(
        **{
            "subtype": "success",
            "duration_ms": 1,
            "duration_api_ms": 1,
            "is_error": False,
            "num_turns": 2,
            "session_id": "s",
            **more,
        }
    )


def only(message):
    [found] = arrivals(message)
    return found


def test_a_subagents_tokens_come_beside_the_turns():
    spoken = assistant(sdk.TextBlock("Hm."), usage=USAGE, parent_tool_use_id="a")
    done = sdk.ToolResultBlock(tool_use_id="a", content="Found.")
    outcome = {"agentId": "a1", "usage": USAGE, "totalTokens": 549}
    last = sdk.UserMessage(content=[done], uuid="u1", tool_use_result=outcome)

    assert only(spoken).is_beside
    said, ended = arrivals(last)
    assert said == Said(text="", message="u1", tokens_fresh=43, tokens_out=6, is_beside=True)
    assert ended.request == "a"
    for strange in ({"agentId": "a1"}, {"usage": USAGE}, "text", None, {"agentId": 1, "usage": 2}):
        assert len(list(arrivals(sdk.UserMessage(content=[done], tool_use_result=strange)))) == 1


def test_the_init_event_is_the_start():
    data = {"model": "claude-x", "permissionMode": "default", "claude_code_version": "2.1"}

    started = only(sdk.SystemMessage(subtype="init", data=data))

    assert started == Started(model="claude-x", permission_mode="default", version="2.1")
    assert only(sdk.SystemMessage(subtype="init", data={})).model == ""
    assert list(arrivals(sdk.SystemMessage(subtype="other", data=data))) == []


def test_a_request_that_is_sent_again_is_told_with_what_the_server_said():
    data = {"attempt": 3, "max_retries": 10, "retry_delay_ms": 2297, "error_status": None}

    silent = only(sdk.SystemMessage(subtype="api_retry", data=data))
    busy = only(sdk.SystemMessage(subtype="api_retry", data={**data, "error_status": 529}))

    assert (silent.attempt, silent.most, silent.pause, silent.http_status) == (3, 10, 2.297, None)
    assert busy.http_status == 529
    assert only(sdk.SystemMessage(subtype="api_retry", data={})).attempt == 0


def test_a_reply_says_its_text_and_how_full_the_context_is():
    message = assistant(
        sdk.TextBlock(text="one"),
        sdk.ThinkingBlock(thinking="hm", signature=""),
        sdk.ToolUseBlock(id="t", name="Read", input={}),
        sdk.TextBlock(text="two"),
        usage=USAGE,
    )

    said = only(message)

    assert isinstance(said, Said)
    assert (said.text, said.context_tokens) == ("one\ntwo", 549)


def test_a_reply_that_claims_no_input_says_nothing_about_the_context():
    usage = {"input_tokens": 0, "output_tokens": 6}

    assert only(assistant(sdk.TextBlock(text="x"), usage=usage)).context_tokens is None


def test_a_helper_agent_inside_the_conversation_does_not_fill_its_context():
    said = only(assistant(sdk.TextBlock(text="x"), usage=USAGE, parent_tool_use_id="t"))

    assert said.context_tokens is None


def test_a_reply_with_nothing_in_it_is_nothing():
    assert list(arrivals(assistant())) == []
    assert list(arrivals(assistant(sdk.TextBlock(text="  \n")))) == []
    assert list(arrivals(assistant(sdk.TextBlock(text="x"), model="<synthetic>"))) == []


@pytest.mark.parametrize(
    "kind", ["rate_limit", "authentication_failed", "billing_error", "unknown"]
)
def test_a_synthetic_error_is_trouble_with_its_kind_and_words(kind):
    message = assistant(
        sdk.TextBlock(text="You've hit your limit"), model="<synthetic>", error=kind
    )

    assert only(message) == TroubleReported(kind=kind, text="You've hit your limit")


@pytest.mark.parametrize(
    ("content", "text", "size"),
    [
        ("plain", "plain", 5),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "é"}], "a\né", 4),
        ([{"type": "image"}, "odd"], "", 0),
        (None, "", 0),
        ("x" * 5000, "x" * 2000, 5000),
    ],
)
def test_a_tool_result_is_kept_short_and_its_size_in_bytes_known(content, text, size):
    block = sdk.ToolResultBlock(tool_use_id="t", content=content, is_error=None)

    found = only(sdk.UserMessage(content=[block]))
    assert replace(found, digest="") == ToolEnded(request="t", is_error=False, text=text, size=size)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2 failed, 31 passed in 0.42s", "2 failed, 31 passed in 11.03 s", True),
        ("2 failed, 31 passed in 0.42s", "1 failed, 32 passed in 0.42s", False),
        ("[2026-01-02T10:11:12.345Z] down", "[2026-01-03T00:00:59.001Z] down", True),
        ("<Pool at 0x7f3a21>", "<Pool at 0x55c0de>", True),
        ("40 %", "50 %", False),
        ("x" * 300_000 + "1", "x" * 300_000 + "2", False),
        ("1" * 300_000, "1" * 300_000, True),
    ],
)
def test_a_result_is_another_one_when_it_says_something_else(one, other, is_same):
    blocks = [
        sdk.ToolResultBlock(tool_use_id="t", content=text, is_error=None) for text in (one, other)
    ]

    [first, second] = [only(sdk.UserMessage(content=[block])).digest for block in blocks]

    assert (first == second) is is_same


def test_several_results_arrive_one_by_one_and_other_blocks_not_at_all():
    blocks = [
        sdk.ToolResultBlock(tool_use_id="a", content="ok", is_error=False),
        sdk.TextBlock(text="typed by a person"),
        sdk.ToolResultBlock(tool_use_id="b", content="no", is_error=True),
    ]

    found = list(arrivals(sdk.UserMessage(content=blocks)))

    assert [(one.request, one.is_error) for one in found] == [("a", False), ("b", True)]
    assert list(arrivals(sdk.UserMessage(content="just text"))) == []


@pytest.mark.parametrize(
    ("info", "limit"),
    [
        (
            {"status": "rejected", "resets_at": 1_800_000_000, "rate_limit_type": "five_hour"},
            {"status": "rejected", "window": "five_hour", "resets_at": 1_800_000_000.0},
        ),
        (
            {"status": "allowed_warning", "utilization": 0.9, "rate_limit_type": "seven_day"},
            {
                "status": "allowed_warning",
                "window": "seven_day",
                "resets_at": None,
                "utilization": 0.9,
                "windows": (WindowUse(window="seven_day", used=0.9, resets_at=None),),
            },
        ),
        ({"status": "allowed"}, {"status": "allowed", "window": "", "resets_at": None}),
    ],
)
def test_a_limit_is_reported_as_claude_code_types_it(info, limit):
    event = sdk.RateLimitEvent(rate_limit_info=sdk.RateLimitInfo(**info), uuid="u", session_id="s")

    assert only(event) == LimitReported(**limit)


def test_each_window_is_told_of_whichever_the_word_is_on():
    """As Claude Code 2.1.332 sends it."""
    of_five_hours = {"utilization": 0.92, "resetsAt": 1_800_000_000, "status": "allowed_warning"}
    of_the_week = {"utilization": 0.62, "resetsAt": 1_800_200_000, "status": "allowed"}
    raw = {"unifiedWindows": {"five_hour": of_five_hours, "seven_day": of_the_week}}

    found = only(
        limit_event(
            status="allowed_warning", rate_limit_type="five_hour", utilization=0.92, raw=raw
        )
    )

    assert (found.window, found.utilization) == ("five_hour", 0.92)
    assert found.windows == (
        WindowUse(window="five_hour", used=0.92, resets_at=1_800_000_000.0),
        WindowUse(window="seven_day", used=0.62, resets_at=1_800_200_000.0),
    )


def test_a_model_s_own_week_is_told_beside_the_windows_of_all():
    raw = {"unifiedWindows": {"seven_day": {"utilization": 0.5, "resetsAt": 9}}}

    found = only(
        limit_event(
            status="allowed_warning", rate_limit_type="seven_day_opus", utilization=0.9, raw=raw
        )
    )

    assert [(one.window, one.used) for one in found.windows] == [
        ("seven_day", 0.5),
        ("seven_day_opus", 0.9),
    ]


NO_NUMBERS = ("0.5", None, True, [], {}, float("nan"), float("inf"), 10**400)


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_what_is_no_share_of_a_window_is_not_told(number):
    raw = {"unifiedWindows": {"seven_day": {"utilization": number, "resetsAt": 9}}}

    found = only(
        limit_event(status="allowed", rate_limit_type="seven_day", utilization=number, raw=raw)
    )

    assert (found.utilization, found.windows) == (None, ())


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_a_window_that_does_not_say_when_it_resets_is_told_without(number):
    raw = {"unifiedWindows": {"seven_day": {"utilization": -0.5, "resetsAt": number}}}

    found = only(limit_event(status="allowed", resets_at=number, raw=raw))

    assert found.resets_at is None
    assert found.windows == (WindowUse(window="seven_day", used=0.0, resets_at=None),)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["unifiedWindows", "five_hour", "seven_day", "utilization", "resetsAt"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(raw=ANYTHING, word=ANYTHING)
def test_a_word_on_limits_of_any_shape_is_survived(raw, word):
    found = only(
        limit_event(status=word, rate_limit_type=word, utilization=word, resets_at=word, raw=raw)
    )

    assert all(use.used >= 0 for use in found.windows)


def limit_event(**info) -> sdk.RateLimitEvent:
    return sdk.RateLimitEvent(rate_limit_info=sdk.RateLimitInfo(**info), uuid="u", session_id="s")


def test_the_end_of_a_turn_has_its_figures():
    message = result(
        result="Done.",
        usage=USAGE,
        total_cost_usd=0.5,
        model_usage={"a": {"contextWindow": 200_000}, "b": {"contextWindow": 1_000_000}, "c": {}},
    )

    ended = only(message)

    assert isinstance(ended, TurnEnded)
    assert (ended.result, ended.turns, ended.is_error) == ("Done.", 2, False)
    assert (ended.tokens_in, ended.tokens_out, ended.cost_usd) == (543, 6, 0.5)
    assert ended.context_window == 1_000_000


def test_a_turn_that_ends_badly_says_why():
    ended = only(result(is_error=True, subtype="error_max_turns", errors=["too", "many"]))

    assert (ended.is_error, ended.subtype, ended.result) == (True, "error_max_turns", "too\nmany")
    assert ended.context_window is None


@pytest.mark.parametrize(
    ("turns", "origin", "is_empty"),
    [
        (0, {"kind": "task-notification"}, True),
        (1, {"kind": "task-notification"}, False),
        (0, {"kind": "human"}, False),
        (0, None, False),
    ],
)
def test_a_turn_that_only_tells_of_the_background_is_empty(turns, origin, is_empty):
    ended = only(result(num_turns=turns, origin=origin))

    assert ended.is_empty is is_empty
    # Without a turn of Claude's nothing was done for the task, whatever else is said of it.
    assert ended.is_error is (turns == 0 and not is_empty)


@pytest.mark.parametrize(
    ("tasks", "works"),
    [
        (
            [
                {"task_id": "a", "task_type": "local_agent"},
                {"task_id": "b", "task_type": "local_bash"},
            ],
            {"a": "local_agent", "b": "local_bash"},
        ),
        ([{}, "odd"], {"": ""}),
        (None, {}),
    ],
)
def test_what_works_in_the_background_is_told_whole(tasks, works):
    message = sdk.SystemMessage(subtype="background_tasks_changed", data={"tasks": tasks})

    assert only(message) == BackgroundChanged(works=works)


@pytest.mark.parametrize("message", [None, "text", 7, {}, sdk.StreamEvent("u", "s", {})])
def test_what_is_no_message_of_a_known_kind_is_nothing(message):
    assert list(arrivals(message)) == []


def test_questions_are_read_with_their_options():
    asked = {
        "questions": [
            {
                "question": "Which?",
                "header": "DB",
                "multiSelect": True,
                "options": [
                    {"label": "A", "description": "first"},
                    {"label": "B", "preview": "+-+\n"},
                ],
            }
        ]
    }

    assert questions(asked) == (
        Question(
            text="Which?",
            header="DB",
            multi_select=True,
            options=(Option(label="A", description="first"), Option(label="B", preview="+-+\n")),
        ),
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["question", "header", "options", "label", "multiSelect"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["questions", "question"]), _JSON))
def test_questions_of_any_shape_are_survived(tool_input):
    for question in questions(tool_input):
        assert question.text
        assert all(isinstance(option.label, str) for option in question.options)


@pytest.mark.parametrize("told", [float("nan"), float("inf"), -5, "many", None, {"a": 1}])
def test_a_number_that_is_none_costs_no_turn(told):
    usage = dict.fromkeys(USAGE, told)
    models = {"claude-x": {"contextWindow": told}}

    ended = only(result(usage=usage, total_cost_usd=told, model_usage=models, result="Done."))

    assert (ended.tokens_in, ended.tokens_out, ended.tokens_cached) == (0, 0, 0)
    assert (ended.cost_usd, ended.context_window, ended.result) == (0.0, None, "Done.")


def test_a_message_to_claude_code_that_it_is_through_with_is_told():
    def became(state):
        return list(arrivals({"type": "command_lifecycle", "state": state, "command_uuid": "m"}))

    assert became("completed") == [MessageEnded(message="m")]
    assert became("queued") == became("started") == became("cancelled") == []
    assert list(arrivals({"type": "command_lifecycle"})) == []


@pytest.mark.parametrize(
    ("one", "several", "heard"),
    [(None, None, ()), ("a", None, ("a",)), ("a", ["a", "b"], ("a", "b")), ("b", [], ("b",))],
)
def test_a_turn_names_the_messages_that_it_took_in(one, several, heard):
    [turn] = arrivals(result(user_message_uuid=one, user_message_uuids=several))

    assert turn.heard == heard
