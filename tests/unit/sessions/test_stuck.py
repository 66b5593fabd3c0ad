"""When a run goes round in circles, and when it only looks so."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import ToolCall
from perpetualcc.sessions.retries import same_failure
from perpetualcc.sessions.stuck import StuckSettings, StuckWatch, only_looks

NOW = 1_800_000_000.0


def bash(command: str) -> ToolCall:
    return ToolCall(tool="Bash", input={"command": command}, project=Path("/p"))


def watch(**settings) -> StuckWatch:
    return StuckWatch(settings=StuckSettings(**settings), since=NOW)


def made(one: StuckWatch, commands: Iterable[str], *, result: str = "", agent: str = "") -> str:
    """Why these calls, each with this result, are found stuck; empty if they are not."""
    for n, command in enumerate(commands):
        call = bash(command)
        if why := one.called(call, is_allowed=True, agent=agent):
            return why
        one.ended(call, is_error=False, now=NOW, result=result.format(n=n))
    return ""


def test_the_same_call_over_and_over_is_stuck_and_different_ones_are_not():
    assert made(watch(same_call=3), ["make"] * 4) == "the same call 3 times in a row: Bash make"
    assert not made(watch(same_call=3), ["make"] * 2)
    assert not made(watch(same_call=3), [f"make {n}" for n in range(50)])


@pytest.mark.parametrize(
    ("circle", "why"),
    [
        (["make", "git diff"], "the same 2 calls 3 times in a row: Bash make, Bash git"),
        (
            ["make", "ls", "cat a"],
            "the same 3 calls 3 times in a row: Bash make, Bash ls, Bash cat",
        ),
        (["a", "b", "b", "c", "d"], "the same 4 calls 3 times in a row: "),
        (["a", "b", "c", "d", "e"], ""),
    ],
)
def test_a_few_calls_in_turn_are_a_circle_when_their_results_are_the_same(circle, why):
    found = made(watch(same_call=3), circle * 10, result="2 failed")

    assert found.startswith(why)
    assert bool(found) is bool(why)


def test_a_call_whose_result_changes_is_no_circle():
    """A build is looked at again and again until it is done."""
    assert not made(watch(same_call=3), ["gh run view 7", "tail build.log"] * 20, result="{n} %")


def test_waiting_and_asking_again_is_no_circle():
    assert not made(watch(same_call=3), ["sleep 60 && gh run view 7"] * 20, result="pending")
    one = watch(same_call=3)
    output = ToolCall(tool="TaskOutput", input={"task_id": "b1"}, project=Path("/p"))
    assert not any(one.called(output, is_allowed=True) for _ in range(20))


def test_agents_that_each_begin_alike_are_no_circle():
    one = watch(same_call=3)

    assert not any(made(one, ["ls", "git log"], agent=f"a{n}") for n in range(8))
    assert made(one, ["ls"] * 4, agent="a9")


def test_refusals_of_the_same_kind_add_up_until_something_is_done():
    one = watch(denials=3)
    assert not one.called(bash("rm a"), is_allowed=False)
    assert not one.called(bash("rm b"), is_allowed=False)
    assert "Bash rm" in one.called(bash("rm -rf c"), is_allowed=False)

    other = watch(denials=3)
    for n in range(20):
        assert not other.called(bash(f"rm {n}"), is_allowed=False)
        call = bash(f"make step{n}")
        assert not other.called(call, is_allowed=True)
        assert not other.ended(call, is_error=False, now=NOW)


@pytest.mark.parametrize(
    ("tool", "is_error", "is_new", "is_progress"),
    [
        ("Write", False, True, True),
        ("Bash", False, True, True),
        ("TodoWrite", False, True, True),
        ("Write", True, True, False),
        ("Write", False, False, False),
        ("Read", False, True, False),
        ("Grep", False, True, False),
    ],
)
def test_only_what_was_done_for_the_first_time_is_progress(tool, is_error, is_new, is_progress):
    one = watch(minutes=10)
    call = ToolCall(tool=tool, input={"file_path": "x"}, project=Path("/p"))
    if not is_new:
        one.ended(call, is_error=False, now=NOW)

    one.ended(call, is_error=is_error, now=NOW + 500)

    assert bool(one.looked_at(NOW + 700)) is not is_progress


def test_replies_that_do_nothing_are_counted_and_a_call_forgives_them():
    one = watch(idle_replies=3)
    assert not any(one.replied(NOW) for _ in range(3))
    assert "3 replies" in one.replied(NOW)

    other = watch(idle_replies=3)
    for n in range(20):
        assert not other.replied(NOW)
        assert not other.called(bash(f"echo {n}"), is_allowed=True)


def test_subagents_that_end_one_after_the_other_are_no_idle_replies():
    one = watch(idle_replies=3)
    agent = ToolCall(tool="Agent", input={"prompt": "Look"}, project=Path("/p"))

    for _ in range(20):
        assert not one.replied(NOW)
        assert not one.ended(agent, is_error=False, now=NOW)


def test_a_persons_coffee_break_is_no_standstill():
    one = watch(minutes=10)
    one.waited(NOW + 3600)

    assert not one.looked_at(NOW + 3700)


def test_zero_turns_a_rule_off():
    one = watch(same_call=0, denials=0, idle_replies=0, minutes=0)

    assert not any(one.called(bash("rm"), is_allowed=False) for _ in range(100))
    assert not any(one.replied(NOW + n * 1e6) for n in range(100))


@pytest.mark.parametrize("settings", [{"same_call": -1}, {"minutes": -5}, {"denials": 1}])
def test_absurd_rules_are_refused(settings):
    with pytest.raises(PerpetualError):
        StuckSettings(**settings)


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("", "boom", False),
        ("API Error: 500 in /a/b", "API Error: 503 in /c", True),
        ("exit 1 of run 3fa9c2d1", "exit 1 of run 77aa01ff", True),
        ("no such file", "no such host", False),
    ],
)
def test_what_failing_the_same_way_means(before, now, same):
    assert same_failure(before, now) is same


LOOKS = """
yes  cat a.py | head -40
yes  ls -la && git status
yes  grep -rn "rate limit" src 2>/dev/null | wc -l
yes  cd src; git log --oneline -5 2>&1
no   python3 -m pytest -q
no   cat a.py > b.py
no   echo done >> notes.txt
no   git commit -m "a step"
no   ls && make test
no   sed -i s/a/b/ a.py
no   $(echo rm) a.py
"""


@pytest.mark.parametrize("line", LOOKS.strip().splitlines())
def test_a_command_that_only_shows_is_no_progress(line):
    expected, _, command = line.partition(" ")

    assert only_looks(bash(command.strip())) is (expected == "yes")
