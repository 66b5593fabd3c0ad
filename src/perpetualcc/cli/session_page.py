"""A session as people see it: its row in `pcc list`, its page in `pcc status`, its box."""

import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perpetualcc.cli.look import coloured, fit, one_line, panel, printable
from perpetualcc.cli.statuses import goes_on, is_scheduled, is_to_be_taken, refused_in, standing
from perpetualcc.domain.folders import home_of
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.texts import counted, first_few, from_home, thousands
from perpetualcc.domain.times import clock, dated, duration, moment

_TASK_SYMBOLS = {
    "done": "✓",
    "running": "→",
    "waiting": "⏳",
    "queued": "○",
    "failed": "✗",
    "parked": "✗",
    "cancelled": "■",
    "missed": "✗",
}
_OVER = frozenset({"done", "cancelled"})
_MOST_OVER = 20
"""Tasks that are over, of those that `pcc status` lists; what is to be done is listed whole."""
_ROOM = 120
"""Characters of why a session does not go on, in a listing."""
_REASON = 600
"""Characters of a decision's reason."""


def row(session: dict[str, Any], *, is_placed: bool = False) -> list[str]:
    """`is_placed`: with the folder it works in."""
    symbol, word, _ = standing(session)
    task = fit(session["task"], 40)
    if is_placed:
        task += f"\nin {one_line(_folder(Path(session['project'])))}"
    if session["resumes_at"] is not None:
        task += f"\n{goes_on(session)}: {moment(session['resumes_at'])}"
    for told in (session["delay"], _stands(session)):
        task += f"\n{one_line(told)}" if told else ""
    status = "\n".join(filter(None, (f"{symbol} {word}", refused_in(session))))
    return [session["id"], fit(session["name"], 24), status, task, _tokens(session)]


def _folder(project: Path) -> str:
    home = home_of(project)
    return home.name if home == project else f"{home.name} (worktree {project.name})"


def _stands(session: dict[str, Any]) -> str:
    """Why a session does not go on now, and what to type where its words do not say it."""
    why = fit(from_home(session["detail"], session["project"]), _ROOM)
    match session["status"]:
        case SessionStatus.WAITING_INPUT:
            return str(session["detail"])
        case SessionStatus.ERROR:
            return f"{why}; see: pcc status {session['id']}"
        case SessionStatus.PAUSED if why != "by a person":
            return f"{why}; go on with: pcc resume {session['id']}"
        case SessionStatus.RATE_LIMITED:
            return why
        case SessionStatus.IDLE if session["resumes_at"] is not None:
            return why
        case _:
            return ""


def _tokens(session: dict[str, Any]) -> str:
    """Of the context window, once it is known; of the hard limit of a perpetual session."""
    used, limits = session["tokens"], session["perpetual"]
    if limits is None:
        window = session["context_window"]
        return f"{thousands(used)}/{thousands(window)}" if window else thousands(used)
    return f"{thousands(used)}/{thousands(limits['hard_tokens'])} ∞"


def row_colour(session: dict[str, Any]) -> str:
    """Of a perpetual session's tokens: seed 001's green, yellow and red."""
    used, limits = session["tokens"], session["perpetual"]
    if limits is None:
        return ""
    if used >= limits["hard_tokens"]:
        return "red"
    return "yellow" if used >= limits["warn_tokens"] else "green"


def session_panel(session: dict[str, Any]) -> str:
    """The box at the top of `pcc start` and `pcc attach`."""
    word, delay = standing(session)[1], one_line(session["delay"])
    standing_now = f"{word}, {delay}" if delay else word
    return panel(
        f"PerpetualCC Session: {session['name']}",
        [
            f"Project: {session['project']}",
            f"Brain: {brain_name(session)}",
            f"Status: {'Running' if standing_now == 'Idle' else standing_now}",
            *([f"Claude's list: {fit(todo, 60)}"] if (todo := session.get("todo")) else []),
        ],
    )


def brain_name(session: dict[str, Any]) -> str:
    return "rule-based" if session["brain"] == "none" else str(session["brain"])


def page(session: dict[str, Any]) -> list[str]:
    symbol, word, colour = standing(session)
    home, started, ended = session["project"], session["created_at"], time.time()
    has_begun = session["runs"] > 0 or not (is_scheduled(session) or session["delay"])
    if word in {"Completed", "Stopped"}:
        ended = session["updated_at"]
    refused = refused_in(session)
    lines = [
        f"Session: {session['id']} ({session['name']})",
        "─" * 38,
        f"Project:     {home}",
        f"Status:      {coloured(', '.join(filter(None, (f'{symbol} {word}', refused))), colour)}"
        + (f" — {fit(from_home(session['detail'], home), 200)}" if session["detail"] else ""),
        f"Brain:       {brain_name(session)} (confidence threshold: {session['confidence']:g})",
        f"{'Started' if has_begun else 'Created'}:     {dated(started)}",
    ]
    if has_begun and not is_scheduled(session):
        lines.append(f"Duration:    {duration(ended - started)}")
    if session["resumes_at"] is not None:
        by_itself = ", by itself" if session["status"] == SessionStatus.RATE_LIMITED else ""
        lines.append(f"{goes_on(session) + ':':<12} {moment(session['resumes_at'])}{by_itself}")
    if todo := session.get("todo"):  # a daemon from before an upgrade does not say
        lines.append(f"Claude's list: {fit(todo, 100)}")
    if is_to_be_taken(session):
        lines.append(f"Made:        take it, or throw it away: pcc review {session['id']}")
    if refused:
        see = f"pcc decisions --session {session['id']} --verdict deny"
        lines.append(f"Refused:     see {see}; what waits for you: pcc pending")
    if (limits := session["perpetual"]) is not None:
        lines.append(
            f"Perpetual:   iteration {session['iteration']}, hands over at"
            f" {limits['warn_tokens']:,} / {limits['hard_tokens']:,} tokens or"
            f" {limits['warn_minutes']:g} / {limits['hard_minutes']:g} minutes"
        )
    return [
        *lines,
        "",
        *_tasks(session["tasks"], home),
        *_words(session.get("words") or []),
        "",
        *_figures(session),
        *_checkpoints(session),
    ]


def _tasks(tasks: list[dict[str, Any]], home: str) -> list[str]:
    lines, over = ["Tasks:"], [one["id"] for one in tasks if one["state"] in _OVER]
    if hidden := set(over[:-_MOST_OVER]):
        lines.append(f"  … {counted(len(hidden), 'task')} before that ended; all of them: --json")
    numbered = len(str(len(tasks))) if len(tasks) > 1 else 0
    for number, task in enumerate(tasks, start=1):
        if task["id"] in hidden:
            continue
        place = f"{number:>{numbered}} " if numbered else ""
        after = f"  (after {first_few(task['after'])})" if task["after"] else ""
        priority = f"  [priority {task['priority']}]" if task["priority"] else ""
        unattended = "" if task["lane"] == "interactive" else "  [unattended]"
        is_later = task["state"] == "queued" and (task["due"] or 0) > time.time()
        begins = f"  [begins {moment(task['due'])}]" if is_later else ""
        is_ahead = is_later or (task["state"] == "queued" and task["due"] is None)
        every = f"  [every {fit(task['every'], 40)}]" if task.get("every") and is_ahead else ""
        symbol = _TASK_SYMBOLS["cancelled" if _is_left_out(task) else task["state"]]
        lines.append(
            f"  {place}{symbol} {task['id']}  {fit(task['prompt'], 60)}"
            f"{priority}{unattended}{begins}{every}{after}"
        )
        if task.get("when") and is_ahead:
            lines.append(f"      begins when it succeeds: {fit(task['when'], 55)}")
        if task.get("plan") in {"ask", "alone"} and task["state"] not in _OVER:
            lines.append("      planned first: its tasks come before it")
        if task.get("checks") and task["state"] not in _OVER:
            lines.append(f"      proved by: {fit('; '.join(task['checks']), 65)}")
        # What the last attempt came to is no news of the one that runs.
        if task["result"] and task["state"] not in {"queued", "running"}:
            lines.append(f"      {fit(from_home(task['result'], home), 76)}")
        if way := _way_on(task):
            lines.append(f"      hint: {fit(way, 200)}")
    return lines


def _words(words: list[dict[str, Any]]) -> list[str]:
    """What was said, and is not certain to have been heard."""
    if not words:
        return []
    lines = [
        f"  {clock(one['said_at'])}  {fit(one_line(one['text']), 60)}"
        + ("" if one["state"] == "waiting" else "  (Claude Code has it)")
        for one in words
    ]
    return ["", "Said to Claude, and on its way:", *lines]


def _is_left_out(task: dict[str, Any]) -> bool:
    """It comes after what was given up or left out: nothing failed in it."""
    packet = task.get("packet") or {}
    given_up = packet.get("reason") == "after" and packet.get("state") in {"cancelled", "missed"}
    return task["state"] == "parked" and given_up


def _way_on(task: dict[str, Any]) -> str:
    """What a person can do about a task that stopped."""
    packet = task.get("packet") or {}
    if task["state"] not in {"failed", "parked"}:
        return ""
    return str(packet.get("hint") or next(iter(packet.get("options") or []), ""))


def _figures(session: dict[str, Any]) -> list[str]:
    used, window, spent = session["tokens"], session["context_window"], session["spent"]
    share = f" / {window:,} ({used * 100 // window}%) of" if window else " in"
    counts: dict[str, int] = session["counts"]
    allowed = sum(n for key, n in counts.items() if key.startswith("allow/"))
    human, ruled = counts.get("allow/person", 0), counts.get("allow/rule", 0)
    auto = f"{allowed - human} auto" + (f", {ruled} of them by your rules" if ruled else "")
    denied = sum(n for key, n in counts.items() if key.startswith("deny/"))
    questions = session["answered"]
    by_people = questions.get("person", 0)
    by_itself = sum(questions.values()) - by_people
    return [
        f"Token Usage: {used:,}{share} the context window",
        f"In all runs: {spent['tokens']:,} tokens that were not cached, ${spent['usd']:.2f}",
        f"Questions Answered: {by_itself + by_people} ({by_itself} auto, {by_people} human)",
        f"Tools Approved: {allowed} ({auto}, {human} human), refused: {denied}",
        f"Runs: {session['runs']}",
    ]


def _checkpoints(session: dict[str, Any]) -> list[str]:
    """The newest three: when, why, and how many files had been written."""
    found: list[dict[str, Any]] = session["checkpoints"]
    newest = [
        f"  {clock(one['at'])}  {fit(one['reason'], 50)} ({counted(len(one['files']), 'file')})"
        for one in found[:-4:-1]
    ]
    return [f"Checkpoints: {len(found)}", *newest]


def decision_lines(
    session: dict[str, Any],
    decisions: list[dict[str, Any]],
    answers: list[dict[str, Any]],
    said: Sequence[dict[str, Any]] = (),
) -> list[str]:
    """What was decided, answered and said, in the order of time."""
    home = session["project"]
    both = [(one["at"], _decision(one, home)) for one in decisions]
    both += [(one["at"], _answered(one, home)) for one in answers]
    both += [(one["said_at"], [_told(one)]) for one in said]
    return [line for _, lines in sorted(both) for line in lines]


def _decision(one: dict[str, Any], home: str) -> list[str]:
    at = clock(one["at"])
    mark = "✓" if one["verdict"] == "allow" else "✗"
    call = f"{one['tool']} → {fit(one['summary'], 60)}"
    return [
        f"[{at}] {mark} {call}  {one['risk']}, by {one['decided_by']}",
        *(f"           {line}" for line in _whole(one["reason"], home)),
    ]


def _told(one: dict[str, Any]) -> str:
    return f'[{clock(one["said_at"])}] You said: "{fit(one_line(one["text"]), 200)}"'


def _answered(one: dict[str, Any], home: str) -> list[str]:
    at = clock(one["at"])
    by = f"by {one['decided_by']}, confidence {one['confidence']:.2f}"
    said = [
        f"[{at}] ? {fit(one_line(question), 60)} → {fit(one_line(answer), 40)}  {by}"
        for question, answer in one["answers"].items()
    ]
    return [*said, *(f"           {line}" for line in _whole(one["reason"], home))]


def _whole(reason: str, home: str) -> list[str]:
    """
    A reason on as many lines as it needs: what it quotes comes last, and is what counts.

    `home`: the project.
    """
    text = printable(" ".join(from_home(reason, home).split()))[:_REASON]
    return textwrap.wrap(text, 90, break_on_hyphens=False, break_long_words=False) or [""]
