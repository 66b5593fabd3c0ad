"""A stage for `pcc demo` and `pcc rehearse`: a scripted model, and an installation of its own."""

import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from perpetualcc.config import CONFIG_VARIABLE
from perpetualcc.domain.folders import is_worktree
from perpetualcc.domain.git import GIT, git_environment
from perpetualcc.rehearsal import RehearsalServer, Scenario, isolated_world, lay_out_files
from perpetualcc.rehearsal.threaded import playing


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Everything below one temporary directory; nothing of it is left afterwards."""

    folder: Path
    project: Path
    server: RehearsalServer
    environment: Mapping[str, str]

    @property
    def data(self) -> Path:
        """Where this installation keeps its state."""
        return self.folder / "pcc"

    def pcc(self, *words: str, quiet: bool = False, is_answered: bool = False) -> int:
        """
        Run a `pcc` command here, as a person would type it. Returns its exit code.

        With `is_answered` the person at this terminal, if it is one, answers what it asks.
        """
        command = [sys.executable, "-m", "perpetualcc", "--data-dir", str(self.data), "--staged"]
        return subprocess.run(
            [*command, *words],
            cwd=self.project.parent,
            env=self.environment,
            stdin=None if is_answered and sys.stdin.isatty() else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else None,
            check=False,
        ).returncode


@contextmanager
def staged(scenario: Scenario, project: Path | None, *, base: Mapping[str, str]) -> Iterator[Stage]:
    """Set the stage with a copy of `project`, or with the files that the scenario brings."""
    # On macOS a link leads to it, and the gate would see paths outside of the project.
    folder = Path(tempfile.mkdtemp(prefix="pcc-")).resolve()
    with _cleared_away():
        try:
            with _set(folder, scenario, project, base) as stage:
                yield stage
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _set(
    folder: Path, scenario: Scenario, project: Path | None, base: Mapping[str, str]
) -> Iterator[Stage]:
    place = _place(folder, scenario, project)
    with playing(RehearsalServer(scenario)) as server:
        world = isolated_world(
            server.url, folder / "home", subscription=scenario.needs_subscription
        )
        environment = world.environment(base)
        (folder / "config.toml").touch()
        environment[CONFIG_VARIABLE] = base.get(CONFIG_VARIABLE, str(folder / "config.toml"))
        stage = Stage(folder=folder, project=place, server=server, environment=environment)
        try:
            yield stage
        finally:
            _be_patient()
            stage.pcc("daemon", "stop", "--now", quiet=True)


@contextmanager
def _cleared_away() -> Iterator[None]:
    """
    A closed terminal or a `kill` ends us as Ctrl+C does: once, and with everything put away.

    Without it a daemon and a Claude Code would go on in a world that nobody knows of.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDS}

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if before[number] is not signal.SIG_IGN:  # not under nohup
            signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _be_patient() -> None:
    """Putting away takes a second or two: a further signal must not leave half of it behind."""
    if threading.current_thread() is threading.main_thread():
        for number in _ENDS:
            signal.signal(number, signal.SIG_IGN)


def _place(folder: Path, scenario: Scenario, project: Path | None) -> Path:
    place = folder / (project.resolve().name if project else scenario.name)
    if project is not None:
        copied(project, place)
    place.mkdir(exist_ok=True)
    lay_out_files(scenario, place)
    return place


def copied(project: Path, place: Path) -> None:
    """A copy in which nothing that git does reaches the project's own repository."""
    shutil.copytree(project, place, symlinks=True, ignore=_left_out)
    if (place / ".git").is_file():
        _part(project, place)


def _left_out(folder: str, names: list[str]) -> set[str]:
    """What tools make again; and other worktrees, which are the real ones wherever they lie."""
    here = Path(folder)
    worktrees = {name for name in names if is_worktree(here / name)}
    return {*_LEFT_OUT} | worktrees | ({"worktrees"} if here.name == ".git" else set())


def _part(project: Path, place: Path) -> None:
    """
    Give the copy of a worktree, or of a submodule, a repository of its own: its `.git` is a file
    that leads to the real one. What is committed so far is read from there and written here.
    """
    git = place / ".git"
    git.unlink()
    asked = (*GIT, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
    environment = git_environment(project)
    found = subprocess.run(
        asked, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    if found.returncode:
        return
    own, common = map(Path, found.stdout.splitlines())
    shutil.copytree(common, git, symlinks=True, ignore=shutil.ignore_patterns(*_OF_THE_REAL_ONE))
    for name in ("HEAD", "index"):
        if (own / name).exists():
            shutil.copy2(own / name, git / name)
    (git / "objects/info").mkdir(parents=True)
    (git / "objects/info/alternates").write_text(f"{common / 'objects'}\n")
    for setting in (("--unset", "core.worktree"), ("core.bare", "false")):
        unset = (*GIT, "config", "--file", str(git / "config"), *setting)
        subprocess.run(unset, env=environment, capture_output=True, check=False)


_LEFT_OUT = ("node_modules", ".venv", "target", "__pycache__")
"""Large, and made again by the tools that need them."""
_OF_THE_REAL_ONE = ("objects", "worktrees", "modules")
