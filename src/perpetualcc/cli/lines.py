"""Events as lines on a terminal: one table, in the look of the seed's manual."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from perpetualcc.cli.look import clock, coloured, fit, moment, one_line, printable
from perpetualcc.cli.options import Detail
from perpetualcc.cli.result_lines import discarded, merged, pushed
from perpetualcc.domain.decisions import rules_named
from perpetualcc.domain.limits import LIMIT_NAMES, REVIEW
from perpetualcc.domain.session_status import TAKEN_OVER
from perpetualcc.domain.texts import counted, first_few, from_home
from perpetualcc.domain.times import duration
from perpetualcc.human.answers import GIVE_UP, RETRY
from perpetualcc.human.how_to_answer import how_to_answer, offer_in
from perpetualcc.sessions.budget import BUDGET

Data = Mapping[str, Any]

_MANY_OPTIONS = 10
"""Shown in a line; Claude offers two to four."""

_BY = {
    "policy": "auto-approved",
    "brain": "approved by the brain",
    "person": "approved by you",
    "rule": "by your rule",
}


_URGENT = frozenset(
    {"QuestionAsked", "EscalationRaised", "LimitReached", "ProblemNoticed", "SessionStatusChanged"}
)
TITLE = 120
"""Characters of what a person is asked."""
_NOTHING: Data = {"head": None, "goes_on": False, "call": ""}
"""
Of an event alone: it begins an entry (else `head` is what it stands below), its task has not begun
before, and its request is not known to be about a call.
"""
_PLACE = frozenset(
    {"seq", "at", "kind", "level", "session", "run", "task", "staged", "here", "typed", *_NOTHING}
)


def shown(
    event: Data, detail: Detail = Detail.NORMAL, *, known: Data = _NOTHING, **place: Any
) -> list[str]:
    """`words_of` an event, beside the time at which it happened."""
    return stamped(event, words_of(event, detail, known=known, **place), below=bool(known["head"]))


def stamped(event: Data, lines: Sequence[str], *, below: bool) -> list[str]:
    """`below` another event's there is no time of its own."""
    stamp = f"[{clock(event['at'])}]"
    blank = " " * len(stamp)
    return [f"{blank if i or below else stamp} {line}" for i, line in enumerate(lines)]


def words_of(
    event: Data,
    detail: Detail = Detail.NORMAL,
    *,
    project: str = "",
    staged: bool = False,
    here: bool = False,
    typed: bool = True,
    known: Data = _NOTHING,
) -> list[str]:
    """
    What a person reads of one event; nothing of those that are not for people.

    `project`: the session's, from which is named what lies in it. `here`: what is asked can
    be answered where it is shown. It names no command to answer, pause or go on with where that is
    not `typed`, but pressed; nor with `staged`: none would reach the daemon. `known`: what
    `telling.Telling` knows of the events before.
    """
    kind = str(event["kind"])
    if detail is Detail.QUIET and kind not in _URGENT:
        return []
    # What is said, and what a session came to, may have several lines, and of a prompt the first is
    # shown; everything else is one, whatever an agent put there.
    several = {"text", "prompt", *(["detail"] if event.get("after") == "COMPLETED" else [])}
    told: dict[str, Any] = {
        name: one_line(value) if isinstance(value, str) and name not in several else value
        for name, value in event.items()
    }
    event = told | {"staged": staged, "here": here, **_NOTHING, **known}
    event["typed"] = typed and not staged
    event |= _from_home(event, project)
    render = _LINES.get(kind)
    lines = render(event) if render else []
    if detail is Detail.VERBOSE and not lines:
        return [plain(event)]
    return lines


def _from_home(event: Data, project: str) -> Data:
    """What is said about a call, and asked; never the call itself, nor Claude's own words."""
    said = {"reason", "result", "detail", "question"}
    if event["kind"] in {"ToolFailed", "ProblemNoticed"}:
        said.add("text")
    if event.get("type") in {"question", "error"}:
        said.add("title")
    told: dict[str, Any] = {
        name: from_home(str(event[name]), project) for name in said if event.get(name)
    }
    if event["kind"] == "QuestionAsked":
        told["questions"] = [
            {**one, "question": from_home(one["question"], project)} for one in event["questions"]
        ]
    return told


def plain(event: Data) -> str:
    """An event without a line of its own: its name and its data."""
    facts = {name: value for name, value in event.items() if name not in _PLACE}
    return printable(f"{event['kind']} {json.dumps(facts, ensure_ascii=False)}")


def _added(event: Data) -> list[str]:
    """Only of what begins later: the rest begins before anybody has read it."""
    if event.get("when"):
        return [f"Begins when it succeeds: {fit(event['when'], 100)}"]
    if not event.get("due"):
        return []
    passed = event.get("passed")
    left_out = f" ({counted(passed, 'time')} passed meanwhile)" if passed else ""
    return [f"Begins {moment(event['due'])}{left_out}: {fit(event['prompt'], 100)}"]


def _task(event: Data) -> list[str]:
    if not event["goes_on"]:
        return [coloured(f"Task: {fit(event['prompt'], 100)}", "bold")]
    again = f" (attempt {event['attempt']})" if event["attempt"] > 1 else ""
    return [coloured(f"Task goes on{again}: {fit(event['prompt'], 50)}", "bold")]


def _started(event: Data) -> list[str]:
    if event["resumed"]:
        return ["Resuming Claude Code session..."]
    if copied := event.get("copies"):
        return [f"Going on with your conversation {copied[:8]}, in a copy of it..."]
    lost = (
        "  No whole transcript is there to go on from: a fresh one begins with what is on record."
    )
    return ["Starting Claude Code session...", *([lost] if event.get("lost") else [])]


_BLANKS = re.compile(r"[^\S\n\t]")
"""Of any width: in a command each is shown as odd, in a text they are blanks."""


def _said(event: Data) -> list[str]:
    first, *rest = printable(_BLANKS.sub(" ", event["text"])).strip().splitlines() or [""]
    return [f"Claude: {first}", *(f"        {line}" for line in rest)]


def _word(event: Data) -> list[str]:
    """`outlook`: when it reaches Claude, where it was said."""
    said = coloured(f'You said: "{fit(one_line(event["text"]), 400)}"', "cyan")
    return [said, f"   {outlook}"] if (outlook := event.get("outlook")) else [said]


def told_of(call: Data) -> str:
    """A decision's reason, without the call that it is about where that stands before it."""
    return one_line(call["reason"]).removeprefix(f"{one_line(call['summary'])}: ")


def _call(event: Data) -> str:
    about = f" → {fit(event['summary'], 90)}" if event["summary"] else ""
    return f"[TOOL] {one_line(event['tool'])}{about}"


def _tool(event: Data) -> list[str]:
    line = _call(event)
    if event["verdict"] == "allow":
        by = _BY.get(event["decided_by"], "approved")
        rules = rules_named(event["reason"]) if event["decided_by"] == "rule" else []
        return [f"{line} {coloured('✓', 'green')} ({' '.join([by, ', '.join(rules)]).strip()})"]
    return [f"{line} {coloured('✗', 'red')} (refused: {fit(told_of(event), 120)})"]


def _plan(event: Data) -> list[str]:
    indented = ((len(line) - len(line.lstrip()), line) for line in event["lines"])
    return ["Plan:", *(f"  {' ' * indent}{fit(line, 150)}" for indent, line in indented)]


def _checked(event: Data) -> list[str]:
    line = f"[CHECK] {fit(event['command'], 90)}"
    if not event["trouble"]:
        return [f"{line} {coloured('✓', 'green')} ({duration(event['seconds'])})"]
    said = f": {fit(event['text'], 120)}" if event["text"] else ""
    return [f"{line} {coloured('✗', 'red')} ({fit(event['trouble'], 120)}{said})"]


_MARKS = re.compile(r"</?tool_use_error>")
"""Claude Code writes them for the model."""


def _failed(event: Data) -> list[str]:
    why = fit(one_line(_MARKS.sub("", event["text"])), 120) or "it says nothing"
    return [f"{_call(event)} {coloured('✗', 'red')} (did not work: {why})"]


def _question(event: Data) -> list[str]:
    lines = []
    for question in event["questions"]:
        text = fit(one_line(question["question"]), 500)
        lines.append(f'{coloured("⚠", "yellow")}  QUESTION from Claude: "{text}"')
        if event["here"]:  # they stand above the line to type on
            continue
        lines.append(f"   Options: {options_in_a_line(question)}")
    return lines


def options_in_a_line(question: Data) -> str:
    """`[1] unittest  [2] pytest`."""
    options = [
        f"[{i}] {fit(o['label'], 40)}"
        for i, o in enumerate(question["options"][:_MANY_OPTIONS], start=1)
    ]
    return "  ".join(options) + ("  …" if len(question["options"]) > _MANY_OPTIONS else "")


def _answered(event: Data) -> list[str]:
    who = {"brain": "Brain", "person": "You"}.get(event["decided_by"], "Policy")
    chosen = one_line("; ".join(event["answers"].values()))
    if event["decided_by"] == "person":
        return [f"{who} answered: {fit(chosen, 80)}"]
    because = f" — {fit(event['reason'], 100)}" if event["reason"] else ""
    return [f"{who} answered: {fit(chosen, 80)} (confidence: {event['confidence']:.0%}){because}"]


def _escalated(event: Data) -> list[str]:
    if event["type"] == "review":
        return []  # the refusal itself is shown; `pcc pending` lists it
    head = event["head"] or {}
    lines = []
    if not event["here"] and head.get("kind") != "QuestionAsked":  # there they are told already
        lines += [f"   Options: {options_in_a_line(one)}" for one in event.get("questions", ())]
        lines += [f"   Offer: {one_line(offer)}"] if (offer := offer_in(event["options"])) else []
    how = _how(event)
    if head and event["type"] == "question":  # what it is about stands right above
        waits = f"   Waits for you (#{event['number']})"
        return [*lines, f"{waits}: {how[0].lower()}{how[1:]}" if how else waits]
    mark = " " if head else coloured("⚠", "yellow")
    needed = f"{mark}  Human input needed (#{event['number']}): {fit(event['title'], TITLE)}"
    return [needed, *lines, *([f"   {how}"] if how else [])]


def _how(event: Data) -> str:
    """`Answer here, or with: pcc respond 1 --approve (or --deny)`; empty where nobody can."""
    # With a task that stops the watching ends, mostly.
    ways = ["here"] if event["here"] and event["type"] != "error" else []
    if event["typed"]:
        questions = event.get("questions") or ()
        how = how_to_answer(event["number"], event["type"], questions, event["options"])
        ways.append(f"with: {how}")
    return f"Answer {', or '.join(ways)}" if ways else ""


def _reminded(event: Data) -> list[str]:
    mark = coloured("⚠", "yellow")
    return [f"{mark}  Still waiting for a person (#{event['number']}): {fit(event['title'], 100)}"]


def _request_settled(event: Data) -> list[str]:
    number, answer = event["number"], event["answer"]
    if event["decided_by"] == "withdrawn":
        return [f"Request #{number} is withdrawn: {fit(answer, 80)}"]
    call = f": {fit(event['call'], 80)}" if event["call"] else ""
    if event["decided_by"] == "timeout":
        return [f"Nobody answered #{number} in time{call or f': {fit(answer, 80)}'}"]
    word, _, text = answer.partition(": ")
    if word not in {"approved", "denied"} or text in {RETRY, GIVE_UP}:
        word, call, text = "answered", "", text if text in {RETRY, GIVE_UP} else answer
    said = f": {fit(text, 80)}" if text else ""
    return [f"You {word} #{number}{call}{said} (from {one_line(event['decided_by'])})"]


_HICCUPS = {
    "overload": "The API is overloaded or fails",
    "unreachable": "The API cannot be reached",
}
"""No limits of anybody's."""
_WINDOWS = {
    "five_hour": "5-hour",
    "seven_day": "weekly",
    "model": "the model's own",
    "spend": "spending",
    "rate": "the API key's",
}


def _limit(event: Data) -> list[str]:
    if event["window"] in _HICCUPS:
        text = f": {fit(event['text'], 120)}" if event["text"] else ""
        return [f"{coloured('⏳', 'yellow')} {_HICCUPS[event['window']]}{text}"]
    when = f"; resets {moment(event['resets_at'])}" if event["resets_at"] else ""
    window = _WINDOWS.get(event["window"]) or one_line(event["window"]) or "limit"
    return [f"{coloured('⏳', 'yellow')} Usage limit reached ({window}){when}"]


def _unanswered(event: Data) -> list[str]:
    return [f"{coloured('⚠', 'yellow')}  {fit(event['text'], 200)}"]


_LEVELS = {"NORMAL": "green", "WARNING": "yellow", "CRITICAL": "red"}
"""Colours of seed 001."""


def _measured(event: Data) -> list[str]:
    share = round(event["tokens"] * 100 / max(event["hard_tokens"], 1))
    hard = "" if event["hard_minutes"] is None else f" / {event['hard_minutes']:g}"
    line = (
        f"[iteration {event['iteration']}] TOKENS: {event['tokens']:,} / {event['hard_tokens']:,}"
        f" ({share}%)  TIME: {event['minutes']:g}{hard} minutes - {fit(event['status'], 20)}"
    )
    return [coloured(line, _LEVELS.get(event["status"], ""))]


def _handover_due(event: Data) -> list[str]:
    what = "Claude is asked to hand over" if event["status"] == "WARNING" else "handing over now"
    due = f"{fit(event['status'], 20)}: {fit(event['reason'], 100)}"
    line = f"[iteration {event['iteration']}] {due}; {what}"
    return [coloured(line, _LEVELS.get(event["status"], ""))]


def _handover_done(event: Data) -> list[str]:
    how = f"{fit(event['manner'], 20)}: {fit(event['reason'], 100)}"
    line = f"✓ Iteration {event['iteration']} handed over ({how})"
    return [coloured(line, "green"), *(f"  {fit(one, 150)}" for one in event["findings"])]


def _budget(event: Data) -> list[str]:
    name = one_line(event["name"])
    what = f"{name}: {event['used']:,.6g} of {event['allowed']:,.6g}"
    if event["kind"] == "BudgetApproached":
        nearly = "" if event["used"] >= event["allowed"] else "nearly "
        return [f"{coloured('⚠', 'yellow')}  A budget is {nearly}used up: {what}"]
    parked = [f"  hint: pcc budget set {name} …"] if name.startswith(("task_", "run_")) else []
    return [f"{coloured('✗', 'red')} A budget is used up: {what}", *parked]


_AT_ONCE = 90
"""Seconds after a reset within which going on is going on then."""


def _planned(event: Data) -> list[str]:
    limit = event["head"] or {}
    margin = "   " if limit else ""
    if event["model"]:
        return [f"{margin}Goes on with {one_line(event['model'])} instead of waiting"]
    because = f" ({one_line(event['reason'])})" if event["reason"] else ""
    is_then = 0 <= event["resumes_at"] - (limit.get("resets_at") or 0.0) <= _AT_ONCE
    when = "then" if is_then else f"at {moment(event['resumes_at'])}"
    goes_on = f"{margin}Goes on by itself {when}{because}"
    if limit.get("window") in _HICCUPS or not event["typed"]:
        return [goes_on]
    return [f"{goes_on}; prevent it with: pcc pause {event['session']}"]


def _status(event: Data) -> list[str]:
    by_itself = event["detail"] not in {"", "by a person"}
    why = f": {fit(event['detail'], 100)}" if by_itself else ""
    go_on = "" if not event["typed"] else f". Go on with: pcc resume {event['session']}"
    cut_off = f"{coloured('⚠', 'yellow')}  Cut off, and {TAKEN_OVER} of the daemon"
    words = {
        "IDLE": [cut_off] if event["detail"] == TAKEN_OVER else [],
        "PAUSED": [f"⏸  Paused{why}{go_on}"],
        "COMPLETED": _completed(event),
        "STOPPED": ["■ Session stopped"],
        "ERROR": [coloured(f"✗ Session stopped working{_because(event)}", "red")],
    }
    return words.get(event["after"], [])


def _completed(event: Data) -> list[str]:
    """With what the session came to; of one task alone that stands right above."""
    came_to, *tasks = [fit(line, 160) for line in event["detail"].splitlines()] or [""]
    done = coloured("✓ Session completed", "green")
    told = tasks if len(tasks) > 1 or not event["head"] else []
    return [f"{done}: {came_to}" if came_to else done, *(f"  {line}" for line in told)]


def _because(event: Data) -> str:
    """Why, unless it is what the task stopped for, right above."""
    told = (event["head"] or {}).get("result", "")
    is_told = bool(told) and one_line(told).startswith(one_line(event["detail"]).rstrip("…"))
    return "" if is_told or not event["detail"] else f": {fit(event['detail'], 160)}"


_USED_UP = re.compile(rf"{BUDGET} (\w+) is used up")
_LIMITS = tuple(LIMIT_NAMES.values())


def _settled(event: Data) -> list[str]:
    if event["state"] == "done":
        return [f"{coloured('✓', 'green')} Task completed"]
    if event["state"] == "waiting" and event["result"].startswith(REVIEW):
        return [f"{coloured('⏳', 'yellow')} W{fit(event['result'], 160)[1:]}"]
    if event["state"] == "waiting" and event["due"] is None:
        see = "" if not event["typed"] else ". See: pcc pending"
        return [f"Waits for you; nothing runs meanwhile{see}"]
    if event["state"] == "waiting" and event["due"] and event["result"]:
        if event["result"].startswith(_LIMITS):
            return []  # `_limit` and `_planned` have said it
        if name := _USED_UP.match(event["result"]):
            more = f"pcc budget set {name[1]} …"
            return [f"Will go on at {moment(event['due'])}, or once there is more: {more}"]
        return [f"Will go on at {moment(event['due'])}: {fit(event['result'], 100)}"]
    if event["state"] == "missed":
        return [coloured(f"✗ Missed: {fit(event['result'], 160)}", "yellow")]
    if event["state"] in {"failed", "parked"}:
        return [coloured(f"✗ Task {event['state']}: {fit(event['result'], 160)}", "red")]
    return []


def _no_snapshot(event: Data) -> list[str]:
    """A rehearsal is in a copy: there is nothing to put back."""
    said = f"No snapshot: {fit(event['reason'], 100)}; pcc undo needs one"
    return [] if event["staged"] else [said]


def _snapshot(event: Data) -> list[str]:
    """Only of what is not in it."""
    if event["staged"] or not event["left_out"]:
        return []
    told = first_few([one_line(one) for one in event["left_out"]])
    return [f"Not in the snapshot for pcc undo: {fit(told, 160)}"]


def _undo(event: Data) -> list[str]:
    back = f"back from there: pcc undo {event['session']} {event['kept']}"
    return [f"Files are put back as they were before {event['to']}, by {event['by']}; {back}"]


def _problem(event: Data) -> list[str]:
    hint = [f"  hint: {one_line(event['hint'])}"] if event["hint"] else []
    return [coloured(f"✗ {fit(event['text'], 200)}", "red"), *hint]


_LINES: dict[str, Callable[[Data], list[str]]] = {
    "RunStarted": _started,
    "TaskAdded": _added,
    "TaskStarted": _task,
    "TextSaid": _said,
    "WordSaid": _word,
    "ToolDecided": _tool,
    "ToolFailed": _failed,
    "QuestionAsked": _question,
    "QuestionAnswered": _answered,
    "EscalationRaised": _escalated,
    "EscalationSettled": _request_settled,
    "EscalationReminded": _reminded,
    "LimitReached": _limit,
    "ApiUnanswered": _unanswered,
    "ConditionMet": lambda e: [f"It succeeds, and the task is due: {fit(e['command'], 100)}"],
    "PlanProposed": _plan,
    "ChecksBegan": lambda e: [
        f"Claude says it is done; checking: {fit('; '.join(e['commands']), 100)}"
    ],
    "CheckEnded": _checked,
    "AskedInPassing": lambda e: [
        f"Claude ends its turn with a question, and is told to ask it: {fit(e['question'], 100)}"
    ],
    "MemoryOutgrown": lambda e: [coloured(f"✗ {fit(e['text'], 200)}", "red")],
    "SnapshotTaken": _snapshot,
    "SnapshotMissed": _no_snapshot,
    "UndoBegan": _undo,
    "MergeDone": merged,
    "PushDone": pushed,
    "DiscardDone": discarded,
    "BackgroundAwaited": lambda e: [f"{coloured('⏳', 'yellow')} {fit(e['text'], 200)}"],
    "LimitApproached": lambda e: [
        f"{coloured('⚠', 'yellow')}  {e['utilization']:.0%} of the usage limit is used"
    ],
    "ResumePlanned": _planned,
    "BudgetApproached": _budget,
    "BudgetUsedUp": _budget,
    "ContextMeasured": _measured,
    "HandoverDue": _handover_due,
    "HandoverDone": _handover_done,
    "TaskSettled": _settled,
    "ProblemNoticed": _problem,
    "SessionStatusChanged": _status,
}
