"""The coverage-guided fuzzer over the permissions, for a while."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 60


@pytest.mark.soak
@pytest.mark.timeout(SECONDS * 4)
@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None,
    reason="atheris is not installed: `pip install atheris` (it has wheels for Linux)",
)
def test_the_fuzzer_finds_nothing(tmp_path: Path) -> None:
    for name in ("everyday", "high", "lookalike"):
        for number, line in enumerate(
            (ROOT / f"tests/corpus/{name}.jsonl").read_text().splitlines()
        ):
            (tmp_path / f"{name}-{number}").write_text(json.loads(line)["command"])

    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "tests/fuzz/fuzz_permissions.py"),
            f"-max_total_time={SECONDS}",
            "-max_len=4000",
            "-rss_limit_mb=4000",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")},
        check=False,
        timeout=SECONDS * 3,
    )

    assert done.returncode == 0, done.stderr[-4_000:]
