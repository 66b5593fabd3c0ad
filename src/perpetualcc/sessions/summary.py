"""What a finished session came to, in words: how many tasks, how long, and what each said last."""

from collections.abc import Sequence

from perpetualcc.domain.tasks import Task, TaskState
from perpetualcc.domain.texts import first_line
from perpetualcc.domain.times import duration

_MOST = 20
"""Tasks that are listed, those that ended last; the others are counted."""
_PROMPT, _RESULT = 60, 120
"""Characters of each."""
_SIGNS = {
    TaskState.DONE: "✓",
    TaskState.FAILED: "✗",
    TaskState.PARKED: "✗",
    TaskState.CANCELLED: "■",
    TaskState.MISSED: "✗",
}


def completion_summary(tasks: Sequence[Task]) -> str:
    """
    The first line counts (it has nothing of the work in it), one more for each task, in the order
    in which they ended.
    """
    done = sum(task.state is TaskState.DONE for task in tasks)
    noun = "task" if len(tasks) == 1 else "tasks"
    counted = f"{done} of {len(tasks)} {noun} done" if done < len(tasks) else f"{done} {noun} done"
    given_up = sum(task.state is TaskState.CANCELLED for task in tasks)
    counted += f", {given_up} given up" if given_up else ""
    lines = [f"{counted} in {duration(_time_with_work(tasks))}"]
    if len(tasks) > _MOST:
        lines.append(f"… {len(tasks) - _MOST} before, and then")
    lines += [_line(task) for task in sorted(tasks, key=lambda task: task.updated_at)[-_MOST:]]
    return "\n".join(lines)


def _time_with_work(tasks: Sequence[Task]) -> float:
    """Seconds in which there was a task to be done; the hours before more was added are none."""
    seconds = until = 0.0
    for began, ended in sorted((task.created_at, task.updated_at) for task in tasks):
        seconds += max(ended - max(began, until), 0.0)
        until = max(until, ended)
    return seconds


def _line(task: Task) -> str:
    said = first_line(task.result, _RESULT)
    return f"{_SIGNS.get(task.state, '○')} {first_line(task.prompt, _PROMPT)}" + (
        f": {said}" if said else ""
    )
