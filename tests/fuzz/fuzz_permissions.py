"""
A coverage-guided fuzz target over the shell reader, the rules and the paths.

Run by `tests/acceptance/test_fuzzing.py`, or by hand: `python tests/fuzz/fuzz_permissions.py
-max_total_time=60 CORPUS`. It stops at the first text that makes the gate fail, that takes too
long, or that is LOW although a dangerous command was put before or after it.
"""

import logging
import sys
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["perpetualcc.permissions"]):
    from perpetualcc.domain.tools import Risk, ToolCall
    from perpetualcc.permissions.risk_classifier import classify_risk
    from perpetualcc.permissions.settings import PermissionSettings

SETTINGS = PermissionSettings(home=Path("/home/dev"))
PROJECT = Path("/home/dev/proj")
SECONDS = 2.0
"""Instrumented code is several times slower than the product."""


def risk(tool: str, **tool_input: str) -> Risk:
    assessment = classify_risk(ToolCall(tool=tool, input=tool_input, project=PROJECT), SETTINGS)
    if assessment.kind == "not judged":
        raise AssertionError(f"the gate failed on {tool_input!r}")
    return assessment.risk


def one_input(data: bytes) -> None:
    text = atheris.FuzzedDataProvider(data).ConsumeUnicode(4_000)
    start = time.thread_time()
    risk("Bash", command=text)
    risk("Write", file_path=text)
    risk("WebFetch", url=text)
    for line in (f"rm -rf /\n{text}", f"{text}\n:\nrm -rf /"):
        if risk("Bash", command=line) is Risk.LOW:
            raise AssertionError(f"LOW with a dangerous line next to it: {line!r}")
    if time.thread_time() - start > SECONDS:
        raise AssertionError(f"too slow: {text!r}")


def main() -> None:
    logging.disable(logging.CRITICAL)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
