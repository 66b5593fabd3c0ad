"""What an install takes: the files of the packages, and beside them the bytecode that pip makes."""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.result import Result

_PROJECT = Path(__file__).parent.parent
_BESIDE = "claude_agent_sdk"
"""The Claude SDK brings Claude Code itself; the limit is for what comes beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Megabytes."""

    files: float
    bytecode: float


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        base = _size_of(".", Path(folder, "base"))
        embed = _size_of(".[embed]", Path(folder, "embed"))
    return [
        _row("install, beside the Claude SDK", base.files, base.bytecode, limit=120),
        _row(
            "what the extra `embed` adds",
            embed.files - base.files,
            embed.bytecode - base.bytecode,
            limit=150,
        ),
    ]


def _row(name: str, files: float, bytecode: float, *, limit: float) -> Result:
    note = f"and {bytecode:.0f} MB of bytecode, where it is made"
    return Result(name=name, value=files, unit="MB", limit=limit, note=note)


def _size_of(what: str, folder: Path) -> Size:
    """Of all that an install puts in a folder, but for the Claude SDK."""
    if uv := shutil.which("uv"):
        install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python"]
        install.append(sys.executable)
    else:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-warn-script-location"]
    subprocess.run(
        [*install, "--target", str(folder), "-c", "constraints.txt", what], cwd=_PROJECT, check=True
    )
    shutil.rmtree(folder / _BESIDE)
    files = [file for file in folder.rglob("*") if file.is_file()]
    bytecode = sum(file.stat().st_size for file in files if file.suffix == ".pyc") / 1e6
    return Size(
        files=sum(file.stat().st_size for file in files) / 1e6 - bytecode, bytecode=bytecode
    )
