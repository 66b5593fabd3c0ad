"""The demo's output in README.md, and what of it is the same each time."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tools.marked import between, replace_between

_DIFFERS = (
    (re.compile(r"done in (\d+m )?\d+s\b"), "done in 12s"),
    (re.compile(r"\x1b\[[\d;]*m"), ""),
    (re.compile(r"\[\d\d:\d\d:\d\d\]"), "[14:30:22]"),
    (re.compile(r"\b(resets|at) \d\d:\d\d\b"), r"\g<1> 14:30"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"), "2026-11-21 14:30"),
    (re.compile(r"^  \d\d:\d\d:\d\d  ", re.MULTILINE), "  14:30:22  "),
    (re.compile(r"\bt-[0-9a-f]{8}\b"), "t-4f1c20ab"),
    (re.compile(r"(pcc pause |--session )[0-9a-f]{6}\b"), r"\g<1>a1b2c3"),
    (re.compile(r"(│ |Session: )[0-9a-f]{6}\b"), r"\g<1>a1b2c3"),
    (re.compile(r"(Duration: +)(\d+m )?\d+s"), r"\g<1>9s"),
    (re.compile(r"^(.{60}).*…\)?$", re.MULTILINE), r"\1…"),
    (re.compile(r" +│$", re.MULTILINE), " │"),
)
"""A pattern and what stands for it: times, ids, durations, what a long path pushed out."""


def play_demo(environment: dict[str, str] | None = None) -> str:
    """Run `pcc demo`; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "perpetualcc", "demo"],
        env=environment or dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    return done.stdout


def place_of(output: str) -> str:
    """The demo's own folder, which is gone when the demo has ended."""
    found = re.search(r"Project:\s+(/\S*?/pcc-[^/\s]+)/", output)
    return found[1] if found else ""


def normalised(output: str) -> str:
    """The output with one value for whatever differs from run to run."""
    output = output.replace(place_of(output) or "/tmp", "/tmp/pcc-demo")  # noqa: S108  # only text
    for pattern, stand_in in _DIFFERS:
        output = pattern.sub(stand_in, output)
    return "\n".join(line.rstrip() for line in output.strip().splitlines())


def write_demo(page: Path) -> None:
    """Play the demo and put its output on the page, as it came."""
    lines = "\n".join(line.rstrip() for line in play_demo().strip().splitlines())
    shown = f"```console\n{lines}\n```"
    text = page.read_text(encoding="utf-8")
    page.write_text(replace_between(text, "demo", shown), encoding="utf-8")


def demo_on(page: Path) -> str:
    """The demo's output as the page shows it."""
    block = between(page.read_text(encoding="utf-8"), "demo")
    return block.removeprefix("```console\n").removesuffix("\n```")
