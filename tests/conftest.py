"""What every tier may use: the scripted model, an isolated world, and a check for leftovers."""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from perpetualcc.rehearsal import RehearsalServer, Scenario, claude_environment, read_scenario
from perpetualcc.rehearsal.threaded import playing
from perpetualcc.rehearsal.world import is_claudes
from tests.leftovers import LEAK_MARK, ended_by_force

# How long one example takes says how busy the machine is; every test has its own timeout.
hypothesis.settings.register_profile("busy machine", deadline=None)
hypothesis.settings.load_profile("busy machine")

# Every machine is the same to a test: nobody's home, settings, keys, proxy, colours or shell.
_TASTES = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "EDITOR", "VISUAL", "PAGER"}
_FOREIGN = ("PERPETUALCC_", "GIT_", "GEMINI_", "GOOGLE_", "OLLAMA_", "XDG_", "LC_", "TMUX", "DBUS_")


def _is_foreign(name: str) -> bool:
    is_a_proxy = name.lower().endswith("_proxy")
    return is_a_proxy or is_claudes(name) or name in _TASTES or name.startswith(_FOREIGN)


for _name in filter(_is_foreign, list(os.environ)):
    del os.environ[_name]
_home = tempfile.TemporaryDirectory(prefix="pcc-home-")
atexit.register(_home.cleanup)
os.environ |= {
    "HOME": _home.name,
    "LANG": "C.UTF-8",
    "TERM": "xterm-256color",
    "SHELL": "/bin/bash",
    "GIT_CONFIG_NOSYSTEM": "1",
}

# In the background of a script Ctrl+C is ignored, and what is ignored is inherited by what we type
# it to.
signal.signal(signal.SIGINT, signal.default_int_handler)

Rehearse = Callable[..., RehearsalServer]
"""Takes a scenario (YAML text, the same as a mapping, or a `Scenario`), and `pace=`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeWorld:
    """A home of its own and a project that is a git repository."""

    home: Path
    project: Path
    mark: str

    def environment(self, server: RehearsalServer, **signed_in_as: bool) -> dict[str, str]:
        """Variables for a Claude Code process that talks to `server`."""
        variables = claude_environment(server.url, self.home, **signed_in_as)
        return variables | {LEAK_MARK: self.mark}


@pytest.fixture
def servers() -> list[RehearsalServer]:
    """The scripted models that the test started, oldest first."""
    return []


@pytest.fixture
def rehearsal(servers: list[RehearsalServer]) -> Iterator[Rehearse]:
    """Play scenarios, each on its own server; `rehearsal("steps: [Done.]").url`."""
    with ExitStack() as playing:

        def play(text: Any, **more: Any) -> RehearsalServer:
            servers.append(playing.enter_context(served(text, **more)))
            return servers[-1]

        yield play


@contextmanager
def served(
    text: str | Mapping[str, Any] | Scenario,
    *,
    pace: float = 1.0,
    server_of: Callable[..., RehearsalServer] = RehearsalServer,
) -> Iterator[RehearsalServer]:
    """A scripted model in a thread with its own event loop."""
    scenario = text if isinstance(text, Scenario) else read_scenario(text)
    with playing(server_of(scenario, pace=pace)) as server:
        yield server


@pytest.fixture(scope="session")
def case_blind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty folder on a disk to which `A` and `a` are one name, as on a Mac."""
    folder = tmp_path_factory.mktemp("case-blind").resolve()
    (folder / "probe").touch()
    if (folder / "PROBE").exists():
        yield folder
        return
    missing = [name for name in ("mkntfs", "lowntfs-3g") if shutil.which(name) is None]
    if missing or os.getuid() != 0:
        pytest.skip("a disk that ignores case can be mounted by root only, with ntfs-3g")
    (folder / "probe").unlink()
    image = folder.with_name("disk")
    image.write_bytes(bytes(16 << 20))
    plain = {"PATH": os.environ["PATH"]}  # its process belongs to no single test
    for words in (
        ["mkntfs", "-F", "-Q", str(image)],
        ["lowntfs-3g", "-o", "ignore_case", str(image), str(folder)],
    ):
        made = subprocess.run(words, capture_output=True, text=True, check=False, env=plain)
        if made.returncode:
            pytest.skip(f"a disk that ignores case cannot be mounted here: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def claude_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClaudeWorld]:
    """An isolated home and project. Fails the test when a process of its world is left over."""
    world = ClaudeWorld(home=tmp_path / "home", project=tmp_path / "project", mark=uuid.uuid4().hex)
    world.home.mkdir()
    world.project.mkdir()
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(world.home / ".claude"))
    monkeypatch.setenv(LEAK_MARK, world.mark)
    subprocess.run(["git", "init", "--quiet", str(world.project)], check=True)
    yield world
    # The kill switch has five seconds, and what ends by itself first finishes to load.
    left = ended_by_force(LEAK_MARK, world.mark, patience=10.0)
    assert not left, f"processes left behind: {left}"
