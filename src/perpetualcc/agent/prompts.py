"""What Claude Code is told when a run begins."""

from collections.abc import Sequence
from pathlib import Path

from perpetualcc.domain.escalations import Escalation, EscalationType
from perpetualcc.domain.tasks import Continued, Planning, Task, checks_of, goal_of, planning_of
from perpetualcc.domain.texts import cut, first_line, inside
from perpetualcc.domain.words import Word, WordState

CONTINUE = (
    "The process you were running in ended and has been restarted; the conversation above is "
    "yours. A tool call that has no result may or may not have taken effect: check before you "
    "repeat it. A question of yours that has no answer, or failed, reached nobody: ask it again if "
    "it still matters. Then continue with the task where you left off."
)

_UNSURE = (
    "A tool call above that has no result may or may not have taken effect: check before you "
    "repeat it."
)


def first_prompt(task: Task, finished: Sequence[Task]) -> str:
    """The task, after what earlier tasks of the same session came to."""
    if not finished:
        return task.prompt
    lines = [f"- {_line(done.prompt)}: {_line(done.result)}" for done in finished]
    return (
        f"{task.prompt}\n\n<earlier-tasks>\nDone before in this project, for orientation:\n"
        + inside("earlier-tasks", "\n".join(lines[-5:]))
        + "\n</earlier-tasks>"
    )


_LEFT = (
    "The conversation above was with the user, who has left it to you: nobody is at its terminal"
    " now. A tool call that has no result may or may not have taken effect."
)
_ELSEWHERE = (
    "It was in {before}. Work goes on in {now} instead: the same project, in another directory."
    " Read and change files there, whatever paths stand above, and look first at what of the above"
    " is there."
)


def taken_over(prompt: str, theirs: Continued, project: Path) -> str:
    """A prompt that comes after a conversation which a person had with Claude in a terminal."""
    moved = _ELSEWHERE.format(before=theirs.folder, now=project)
    told = _LEFT if theirs.folder == str(project) else f"{_LEFT} {moved}"
    return f"{prompt}\n\n<taken-over>\n{told}\n</taken-over>"


_PLAN = """<planning>
This is a goal. In this turn it is planned, and nothing else: nothing may be changed yet.
1. Look at what is there, as far as the plan needs it.
2. Ask with AskUserQuestion what the plan depends on and only a person can say.
3. Call the tool mcp__perpetualcc__propose_plan with the tasks, then end your turn.
The tasks are worked through one after another, each in a fresh conversation. Each leaves the \
project working, is small enough for one sitting and large enough to be worth one; one is a plan, \
too. A check is a command that fails before the task is done and succeeds after it, or guards what \
works already. When all are done, the goal as a whole is looked over.{proof}
</planning>"""


def with_terms(prompt: str, task: Task, finished: Sequence[Task]) -> str:
    """A first prompt, with what the task is part of, and what proves it done."""
    checks = "\n".join(f"- {command}" for command in checks_of(task))
    match planning_of(task):
        case Planning.ASK | Planning.ALONE:
            proof = f" It is reached when these commands succeed:\n{checks}" if checks else ""
            return f"{prompt}\n\n{_PLAN.format(proof=proof)}"
        case Planning.MADE:
            prompt = f"{prompt}\n\n{_look_over(task, finished)}"
        case None if goal := goal_of(task):
            prompt = (
                f"{prompt}\n\n<goal>\nThis task is one of a plan, whose others have their own"
                f" turn. Do this one. The goal of them all:\n{goal}\n</goal>"
            )
    if not checks:
        return prompt
    return (
        f"{prompt}\n\n<checks>\nThe task is done when these commands succeed in the project's "
        f"directory; they are run when you end your turn:\n{checks}\n</checks>"
    )


def _look_over(task: Task, finished: Sequence[Task]) -> str:
    parts = [done for done in finished if done.id in task.after]
    lines = inside(
        "goal", "\n".join(f"- {_line(done.prompt)}: {_line(done.result)}" for done in parts)
    )
    return (
        "<goal>\nThis goal was cut into tasks, which are done:\n"
        f"{lines}\nLook at the whole now, with fresh eyes: is it what was asked for? Mend what is "
        "missing or does not fit together, and say what you found.\n</goal>"
    )


def continuation(
    answers: Sequence[Escalation], changes: str = "", refuted: str = "", said: str = ""
) -> str:
    """
    How a conversation goes on: with what people answered and said, what changed, and what the
    checks came to, meanwhile.
    """
    told = [line for one in answers for line in _answer_lines(one)]
    how = f"{refuted}\n\n{_UNSURE}" if refuted else CONTINUE
    if told:
        how = "\n".join(
            [
                "While you were stopped, a person answered:",
                *told,
                "",
                refuted or "Continue with the task.",
            ]
        )
    return "\n\n".join(filter(None, (how, changes, said)))


def answered(answers: Sequence[Escalation]) -> str:
    """The same for a fresh conversation; empty when nobody answered anything."""
    told = [line for one in answers for line in _answer_lines(one)]
    return "\n".join(["Meanwhile a person answered:", *told]) if told else ""


_SAID_BEFORE = 20
"""Of what was said to earlier runs of the task, the latest that a fresh conversation is told."""
_SAID_CUT = 500
"""Characters of each: it was followed, or is in the handover; what is new is told whole."""
_PERHAPS = "(You may have been told this before.) "


def told_words(words: Sequence[Word], *, is_fresh: bool) -> str:
    """
    What people said while no run could take it; in a fresh conversation, after what they said
    before. Empty when they said nothing.
    """
    before = [word for word in words if word.is_used][-_SAID_BEFORE:] if is_fresh else []
    now = [word for word in words if not word.is_used]
    parts = []
    if before:
        lines = [_spoken(cut(word.text, _SAID_CUT)) for word in before]
        parts.append(
            "While this task was worked on before, the user said, and it still holds:\n"
            + "\n".join(lines)
        )
    if now:
        lines = [
            _spoken((_PERHAPS if word.state is WordState.GIVEN else "") + word.text) for word in now
        ]
        parts.append("Meanwhile the user said to you:\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _spoken(text: str) -> str:
    return "- " + text.replace("\n", "\n  ")


def _answer_lines(escalation: Escalation) -> list[str]:
    request, answer = escalation.request, escalation.answer or {}
    ours = {"budget", "resumes_at", "plan"} & request.raw.keys()
    if ours or not {"questions", "tool"} & request.raw.keys():
        return []  # about a limit, a budget, a plan, a task that stopped: Claude asked nothing
    if request.type is EscalationType.QUESTION:
        given = answer.get("answers") or {request.title: answer.get("text", "")}
        return [f'- You asked: "{question}" The answer: {said}' for question, said in given.items()]
    call = request.title.partition(": ")[2]
    reason = f" ({answer['text']})" if answer.get("text") else ""
    if answer.get("approve") is True:
        return [f"- Approved{reason}: {call}. Make exactly this call if you still need it."]
    if request.type is EscalationType.REVIEW:
        return []
    return [f"- Not approved{reason}: {call}. Do not try it another way; do without it."]


def _line(text: str) -> str:
    return first_line(text, 200) or "done"
