"""How these tests judge: one project that is on no disk, one home."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from perpetualcc.domain.tools import Assessment, Risk, ToolCall
from perpetualcc.permissions.effects import Analysis
from perpetualcc.permissions.risk_classifier import analyse, classify_risk
from perpetualcc.permissions.settings import PermissionSettings

HOME = Path("/home/dev")
PROJECT = HOME / "proj"
SETTINGS = PermissionSettings(home=HOME)
CORPUS = Path(__file__).parents[2] / "corpus"


def call(tool: str, **tool_input: Any) -> ToolCall:
    return ToolCall(tool=tool, input=tool_input, project=PROJECT)


def given(tool: str, tool_input: dict[str, Any]) -> Analysis:
    """The same where a field of the input may have any name, `tool` too."""
    return analyse(ToolCall(tool=tool, input=tool_input, project=PROJECT), SETTINGS)


def bash(command: str) -> Assessment:
    return classify_risk(call("Bash", command=command), SETTINGS)


def bash_risk(command: str) -> Risk:
    return bash(command).risk


def judged(tool: str, **tool_input: Any) -> Analysis:
    return analyse(call(tool, **tool_input), SETTINGS)


@cache
def corpus(name: str) -> tuple[dict[str, Any], ...]:
    lines = (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)


def is_run(line: str, directory: Path, *shell: str) -> bool:
    """Whether the shell runs CMD. Without one it is bash."""
    mark = directory / "it-ran"
    mark.unlink(missing_ok=True)
    subprocess.run(
        [*(shell or ("bash", "--norc", "-c")), line.replace("CMD", "touch it-ran")],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=10,
        check=False,
    )
    return mark.exists()
