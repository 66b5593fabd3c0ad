"""What a report says, in words: one wording for the terminal and the digest."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from perpetualcc.domain.limits import LIMIT_NAMES, REVIEW, LimitWindow
from perpetualcc.domain.session_status import WORDS, SessionStatus
from perpetualcc.domain.texts import counted, first_line, thousands
from perpetualcc.sessions.budget import BUDGET
from perpetualcc.sessions.report import Act, Heard

Told = Mapping[str, Any]
"""A `SessionReport` as clients see it, with its `session`."""
SIGNS = {"done": "✓", "cancelled": "■"}
OTHERWISE = "✗"


def sums(sessions: Sequence[Told]) -> str:
    """`3 tasks done, 1 not, 12K fresh tokens, $1.20`."""
    parts = [
        *_ended(task["state"] for one in sessions for task in one["tasks"]),
        f"{thousands(sum(one['tokens'] for one in sessions))} fresh tokens",
        f"${sum(one['usd'] for one in sessions):.2f}",
    ]
    return ", ".join(parts)


def _ended(states: Iterable[str]) -> list[str]:
    ended = Counter(states)
    done, stopped = ended.pop("done", 0), ended.pop("cancelled", 0)
    failed = ended.total()
    if failed and not done:
        parts = [f"{counted(failed, 'task')} not done"]
    else:
        parts = [f"{counted(done, 'task')} done", *([f"{failed} not"] if failed else [])]
    if stopped:
        parts.append(f"{stopped} stopped by you")
    return parts


def happened(one: Told) -> bool:
    """Whether there is anything to tell: that somebody was reminded is nothing that happened."""
    kinds = ("tasks", "answers", "refused", "files", "limits", "budgets", "problems", "checks")
    people = one.get("words") or one.get("dealt_with")
    return bool(one["runs"] or any(one[kind] for kind in kinds) or people)


HEARD: Mapping[str, str] = {
    Heard.HEARD: "heard",
    Heard.GIVEN: "on its way",
    Heard.WAITING: "not heard yet",
    Heard.NEVER: "never heard: its task was over",
}
"""Of what a person said."""
_WAITED_FOR: Mapping[LimitWindow, str] = {
    **LIMIT_NAMES,
    LimitWindow.OVERLOAD: "a server that is overloaded or fails",
    LimitWindow.UNREACHABLE: "a server that cannot be reached",
}


def waits(one: Told, moment: Callable[[float], str]) -> str:
    """What it waits for now, until when, and that it goes on by itself; empty: it does not wait."""
    session = one["session"]
    if session["status"] != SessionStatus.RATE_LIMITED:
        return ""
    if session["resumes_at"] is None:
        is_told = session["detail"].startswith(REVIEW)
        return f"{'' if is_told else 'waits: '}{session['detail']}"
    return f"waits until {moment(session['resumes_at'])}, then goes on by itself" + (
        f": {session['detail']}" if session["detail"] else ""
    )


def waited(one: Told) -> list[str]:
    """What it waited for before, and the budgets that were used up; not what it waits for now."""
    is_waiting = one["session"]["status"] == SessionStatus.RATE_LIMITED
    now = one["session"]["detail"] if is_waiting else ""
    times = Counter(LimitWindow(window) for window in one["limits"])
    times.subtract(window for window in [*times] if now.startswith(LIMIT_NAMES[window]))
    budgets = [name for name in one["budgets"] if not now.startswith(f"{BUDGET} {name} ")]
    return [
        *(f"waited for {_WAITED_FOR[it]}{often(times[it])}" for it in times if times[it] > 0),
        *(f"the budget {name} was used up" for name in budgets),
    ]


def often(number: int) -> str:
    return f" {number} times" if number > 1 else ""


def in_brief(one: Told, moment: Callable[[float], str]) -> str:
    """`completed: 2 tasks done, 1 not, 3 refused`: how it stands, and counts, and no text."""
    parts = _ended(task["state"] for task in one["tasks"]) if one["tasks"] else []
    if refused := sum(call["times"] for call in one["refused"]):
        parts.append(f"{refused} refused")
    if said := one.get("words", ()):
        unheard = sum(word["heard"] != Heard.HEARD for word in said)
        parts.append(f"{len(said)} said by you" + (f" ({unheard} not heard)" if unheard else ""))
    acts = [_ACTS[each["act"]] for each in one.get("dealt_with", ()) if each["is_done"]]
    parts += [*dict.fromkeys(acts), *waited(one), *filter(None, [waits(one, moment)])]
    word = WORDS[SessionStatus(one["session"]["status"])].lower()
    return f"{word}: {', '.join(parts)}" if parts else word


def text_lines(one: Told) -> list[str]:
    """Its tasks with their signs, and what was said to it and not heard."""
    tasks = [
        f"{SIGNS.get(task['state'], OTHERWISE)} {first_line(task['prompt'])}"
        for task in one["tasks"]
    ]
    unheard = [word for word in one.get("words", ()) if word["heard"] != Heard.HEARD]
    dealt = [dealt_with(each, one["session"]["id"]) for each in one.get("dealt_with", ())]
    return [*tasks, *dealt, *(f"Not heard: {first_line(word['text'])}" for word in unheard)]


_ACTS: Mapping[str, str] = {
    Act.MERGE: "merged",
    Act.PUSH: "pushed",
    Act.DISCARD: "thrown away",
}
_AGAIN: Mapping[str, str] = {
    Act.MERGE: "pcc accept {0}",
    Act.PUSH: "pcc accept {0} --push",
    Act.DISCARD: "pcc discard {0}",
}


def dealt_with(each: Told, session: str) -> str:
    """`Merged worktree-dark into main: 3 files, by ana@box`; what is not done says what does it."""
    done = _ACTS[each["act"]]
    branch = each["branch"] or "its worktree"
    if not each["is_done"]:
        return f"To be {done}, and not done: {branch}; {_AGAIN[each['act']].format(session)}"
    if each["act"] == Act.MERGE:
        many = counted(each["files"], "file")
        return f"Merged {branch} into {each['to']}: {many}, by {each['by']}"
    if each["act"] == Act.PUSH:
        return f"Pushed {branch} to {each['to']}, by {each['by']}"
    back = f"pcc undo {session} {each['to']}"
    return f"Thrown away: {branch}, by {each['by']}; back from there: {back}"
