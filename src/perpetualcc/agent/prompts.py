"""What Claude Code is told when a run begins."""

from collections.abc import Mapping, Sequence
from typing import Any

from perpetualcc.domain.tasks import Task

CONTINUE = (
    "The process you were running in ended and has been restarted; the conversation above is "
    "yours. A tool call that has no result may or may not have taken effect: check before you "
    "repeat it. Then continue with the task where you left off."
)


def first_prompt(task: Task, finished: Sequence[Task]) -> str:
    """The task, after what earlier tasks of the same session came to."""
    if not finished:
        return task.prompt
    lines = [f"- {done.prompt.splitlines()[0]}: {_first_line(done.result)}" for done in finished]
    return (
        f"{task.prompt}\n\n<earlier-tasks>\nDone before in this project, for orientation:\n"
        + "\n".join(lines[-5:])
        + "\n</earlier-tasks>"
    )


def continuation(answer: Mapping[str, Any] | None) -> str:
    """How a conversation goes on: with a person's answer when there is one."""
    if answer is None:
        return CONTINUE
    return f"{answer.get('text', '')}\n\nContinue with the task.".strip()


def _first_line(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else "done"
    return line if len(line) <= 200 else line[:199] + "…"
