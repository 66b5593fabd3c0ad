"""Thirty tasks of every kind in one session, whose processes are killed every few seconds."""

import time
from contextlib import suppress
from random import Random

import pytest

from tests.acceptance.supervised import kill, wait_until

pytestmark = [pytest.mark.claude, pytest.mark.soak, pytest.mark.timeout(900)]

PLAIN = [(n, n % 7) for n in range(14)]
"""Number and priority."""
IN_A_ROW = list(range(14, 20))
"""Each after the one before."""
PROVED = [20, 21, 22]
MENDED = 23
"""Its check fails first, and Claude mends it."""
CONDITIONAL = [24, 25]
LATER = [26]
IN_VAIN = [27, 28]
"""Checks that cannot succeed."""
ASKING = 29
MOST_KILLS = 40


def title(number):
    return f"Item {number:02}"


def prompt(number):
    return f"{title(number)}\nDo part-{number:02}"


def scene(number):
    write = f'tools: [{{Bash: {{command: "echo {number:02} >> src/{number:02}"}}}}], delay: 300ms'
    steps = [f"{{say: I begin., {write}}}", "{say: It is done., delay: 300ms}"]
    if number == MENDED:
        steps += ["{say: Mended., tools: [{Bash: {command: touch src/mended}}]}", "It is mended."]
    if number == ASKING:
        steps.insert(0, '{ask: [{question: "Which way?", options: [Left, Right]}]}')
    if number in IN_VAIN:
        steps.append("{repeat: 9, say: I cannot.}")
    lines = "".join(f"      - {one}\n" for one in steps)
    return f"  - when: part-{number:02}\n    steps:\n{lines}"


STORY = "scenes:\n" + "".join(map(scene, range(30)))


def queue(pcc, session):
    """All but the first, while the session is paused."""

    def add(number, *words):
        pcc.pcc("add", session, prompt(number), *words)

    for number, priority in PLAIN[1:]:
        add(number, "--priority", str(priority))
    add(IN_A_ROW[0], "--after", title(PLAIN[0][0]))
    for number in IN_A_ROW[1:]:
        add(number, "--after", title(number - 1), "--priority", str(number % 3))
    for number in PROVED:
        add(number, "--check", f"ls src/{number:02}", "--priority", "1")
    add(MENDED, "--check", "ls src/mended")
    for number in CONDITIONAL:
        add(number, "--when", f"ls src/{number - 10:02}")
    for number in LATER:
        add(number, "--at", "in 40 seconds")
    for number in IN_VAIN:
        add(number, "--check", "ls src/never", "--priority", "-1")
    add(ASKING, "--after", title(MENDED))


def answer_whatever_waits(pcc):
    for request in pcc.ask("escalation.list"):
        word = "1"
        if request["type"] == "error":  # also what was at hand when one engine after another died
            is_in_vain = any(title(number) in request["title"] for number in IN_VAIN)
            word = "give up" if is_in_vain else "retry"
        # Withdrawn meanwhile, or settled before the last kill: it is listed no more, then.
        pcc.pcc("respond", str(request["number"]), word, check=False)


def kill_one_of(pcc, chance):
    victims = [pcc.engine, pcc.engine, *pcc.claudes()]
    victim = chance.choice(victims)
    if victim is not None:
        with suppress(ProcessLookupError):
            kill(victim)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_killed_a_mixed_queue_is_worked_through_once_and_in_order(install, seed):
    pcc, chance = install(STORY), Random(seed)
    (pcc.project / "src").mkdir()
    pcc.pcc("config", "set", "checks.attempts", "2")
    session = pcc.start(prompt(0))
    pcc.pcc("pause", session)
    queue(pcc, session)
    pcc.pcc("resume", session)

    for _ in range(MOST_KILLS):
        time.sleep(chance.uniform(1.0, 8.0))
        answer_whatever_waits(pcc)
        if pcc.look(session)["status"] == "COMPLETED":
            break
        kill_one_of(pcc, chance)
    deadline = time.monotonic() + 300
    while pcc.look(session)["status"] != "COMPLETED":
        assert time.monotonic() < deadline, pcc.pcc("status", session).stdout
        time.sleep(0.5)
        answer_whatever_waits(pcc)

    assert_it_is_worked_through(pcc, session)


def assert_it_is_worked_through(pcc, session):
    tasks = {int(one["prompt"][5:7]): one for one in pcc.look(session)["tasks"]}
    assert sorted(tasks) == list(range(30))
    states = {number: one["state"] for number, one in tasks.items()}
    assert [n for n, state in states.items() if state != "done"] == IN_VAIN, states
    by_id = {one["id"]: number for number, one in tasks.items()}
    settled = [
        (one["seq"], by_id[one["task"]])
        for one in pcc.events(session, "TaskSettled")
        if one["state"] == "done"
    ]
    assert sorted(number for _, number in settled) == sorted(set(range(30)) - set(IN_VAIN))
    done_at = {number: seq for seq, number in settled}
    began_at: dict[int, int] = {}
    for one in pcc.events(session, "TaskStarted"):
        began_at.setdefault(by_id[one["task"]], one["seq"])
    for number, task in tasks.items():
        for first in task["after"]:
            assert done_at[by_id[first]] < began_at[number], f"{number} after {by_id[first]}"
    for number in CONDITIONAL:
        assert began_at[number - 10] < began_at[number], "its condition could not hold before"
    plain = sorted((began_at[number], -priority, number) for number, priority in PLAIN[1:])
    assert [one[1:] for one in plain] == sorted(one[1:] for one in plain), "by priority, then age"
    for number in set(range(30)) - set(IN_VAIN):
        written = (pcc.project / "src" / f"{number:02}").read_text()
        assert set(written.split()) == {f"{number:02}"}
    wait_until(lambda: not pcc.claudes(), within=60)
    assert pcc.ask("escalation.list") == []
