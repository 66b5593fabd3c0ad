"""What Claude Code is told when a run begins."""

from dataclasses import replace

from perpetualcc.agent.prompts import first_prompt
from tests.unit.agent.test_supervision import TASK


def done(prompt: str, result: str):
    return replace(TASK, prompt=prompt, result=result)


def test_the_first_task_is_told_as_it_was_typed():
    assert first_prompt(TASK, []) == "Build it"


def test_later_tasks_are_told_what_the_last_five_came_to():
    finished = [done(f"task {n}\nwith details", f"result {n}\nand more") for n in range(7)]

    prompt = first_prompt(TASK, finished)

    assert prompt.startswith("Build it\n\n<earlier-tasks>")
    assert prompt.endswith("</earlier-tasks>")
    assert [line for line in prompt.splitlines() if line.startswith("- ")] == [
        f"- task {n}: result {n}" for n in range(2, 7)
    ]


def test_a_result_that_says_nothing_or_too_much_is_one_line():
    prompt = first_prompt(TASK, [done("empty", " \n"), done("long", "x" * 500)])

    assert "- empty: done" in prompt
    assert f"- long: {'x' * 199}…" in prompt
