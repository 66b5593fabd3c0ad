"""Whether this machine has a sandbox: not whether files of that name are there."""

import sys
from pathlib import Path

import pytest

from perpetualcc.claude.layers import why_no_sandbox

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="its sandbox is another")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`programs(bwrap="exit 0")`: what is on the PATH; asked anew each time."""

    def put(**scripts: str) -> str:
        for name, script in scripts.items():
            file = tmp_path / name
            file.write_text(f"#!/bin/sh\n{script}\n")
            file.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        why_no_sandbox.cache_clear()
        return why_no_sandbox()

    yield put
    why_no_sandbox.cache_clear()


def test_a_sandbox_needs_both_programs_to_work(programs) -> None:
    assert programs() == "bwrap and socat missing: install the packages bubblewrap and socat"
    assert programs(bwrap="exit 0").startswith("socat missing")
    assert programs(bwrap="echo no >&2; exit 1", socat="exit 0") == (
        "bubblewrap does not work here: no"
    )
    assert programs(bwrap="exit 0", socat="echo no libwrap >&2; exit 127") == (
        "socat does not work here: no libwrap"
    )
    assert programs(socat="exit 0") == ""
