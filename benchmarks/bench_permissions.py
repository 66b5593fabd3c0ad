"""
How long a judgement takes, on everyday commands and on hostile ones.

Processor time of this thread, so that other work on the machine does not count.
"""

import json
import logging
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.result import Result
from perpetualcc.domain.tools import ToolCall
from perpetualcc.permissions.risk_classifier import classify_risk
from perpetualcc.permissions.settings import PermissionSettings

ROOT = Path(__file__).parents[1]
PROJECT = Path("/home/dev/proj")
SETTINGS = PermissionSettings(home=Path("/home/dev"))
LENGTH = 100_000
"""Characters of the hostile lines."""
HOSTILE = {
    "many commands": "echo a; " * (LENGTH // 8),
    "many words": "rm " + "x " * (LENGTH // 2),
    "unfinished pipes": "ls|" * (LENGTH // 3),
    "unfinished arrays": "a=(" * (LENGTH // 3),
    "redirections": "<" * LENGTH,
    "quotes": '"' * LENGTH,
    "braces": "echo " + "{a,b}" * (LENGTH // 5),
    "NUL": "\0" * LENGTH,
    "a sed script": "sed '" + "s/a/b/;" * (LENGTH // 7) + "'",
    "a here-document": "cat > src/x <<'EOF'\n" + 'x $( "\n' * (LENGTH // 7) + "EOF\n",
}


def run() -> list[Result]:
    """Judge the everyday corpus, the hostile lines, and lines through `pcc explain --jsonl`."""
    logging.disable(logging.CRITICAL)
    commands = [
        json.loads(line)["command"]
        for line in (ROOT / "tests/corpus/everyday.jsonl").read_text("utf-8").splitlines()
    ]
    for command in commands:
        judge(command)
    milliseconds = sorted(judge(command) * 1_000 for _ in range(3) for command in commands)
    worst = max(HOSTILE, key=lambda name: judge(HOSTILE[name]))
    return [
        Result(name="judgement p50", value=quantile(milliseconds, 0.5), unit="ms", limit=0.3),
        Result(name="judgement p99", value=quantile(milliseconds, 0.99), unit="ms", limit=2.0),
        Result(
            name="100 kB line, worst", value=judge(HOSTILE[worst]), unit="s", limit=0.2, note=worst
        ),
        Result(
            name="explain --jsonl", value=lines_per_second(commands), unit="lines/s", limit=2_000,
            higher_is_better=True,
        ),
    ]  # fmt: skip


def judge(command: str) -> float:
    """Seconds of processor time for one judgement."""
    call = ToolCall(tool="Bash", input={"command": command}, project=PROJECT)
    start = time.thread_time()
    classify_risk(call, SETTINGS)
    return time.thread_time() - start


def quantile(ordered: list[float], share: float) -> float:
    return ordered[int(len(ordered) * share)]


def lines_per_second(commands: list[str]) -> float:
    """Through a real process; the time to start it is taken off."""
    lines = [
        json.dumps({"tool": "Bash", "input": {"command": command}, "project": str(PROJECT)})
        for command in commands
    ]
    few, many = lines[:10], lines * 10
    seconds = processor_seconds(many) - processor_seconds(few)
    return (len(many) - len(few)) / seconds


def processor_seconds(lines: list[str]) -> float:
    """User and system time of one `pcc explain --jsonl`, as its parent sees it."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "perpetualcc", "explain", "--jsonl"],
        input="\n".join(lines), text=True, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


if __name__ == "__main__":
    for result in run():
        print(f"{'ok ' if result.ok else 'BAD'} {result.name}: {result.value:.3f} {result.unit}"
              f" (limit {result.limit}) {result.note}")  # fmt: skip
