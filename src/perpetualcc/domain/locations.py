"""Where this installation keeps its state. One data directory is one independent PerpetualCC."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from perpetualcc.domain.errors import PerpetualError

# sizeof(sockaddr_un.sun_path) less the closing NUL: unix(4) on macOS, unix(7) on Linux.
SOCKET_PATH_LIMIT = 103 if sys.platform == "darwin" else 107


@dataclass(frozen=True, slots=True, kw_only=True)
class Locations:
    """The files and directories below one data directory, all 0700 or 0600."""

    data: Path
    """Absolute."""

    @property
    def database(self) -> Path:
        return self.data / "perpetualcc.db"

    @property
    def run_dir(self) -> Path:
        return self.data / "run"

    @property
    def programs(self) -> Path:
        """A folder for the PATH of sessions: `pcc`, and nothing else of ours."""
        return self.run_dir / "bin"

    @property
    def socket(self) -> Path:
        return self.run_dir / "pcc.sock"

    @property
    def supervisor_lock(self) -> Path:
        """Held with flock while a supervisor lives; its text is the supervisor's process id."""
        return self.run_dir / "supervisor.lock"

    @property
    def engine_lock(self) -> Path:
        """Held with flock while an engine lives; its text is the engine's process id."""
        return self.run_dir / "engine.lock"

    @property
    def takeover_lock(self) -> Path:
        """Held with flock while a command starts the daemon anew by itself: of two only one."""
        return self.run_dir / "takeover.lock"

    @property
    def putting_back(self) -> Path:
        """Held with flock while files are put back; its text is the folder that they are in."""
        return self.run_dir / "putting-back.lock"

    @property
    def status(self) -> Path:
        """What the supervisor does now, as JSON. Meaningless when its lock is free."""
        return self.run_dir / "status.json"

    @property
    def steering(self) -> Path:
        """Digests of the variables that steer Claude Code, as the supervisor was given them."""
        return self.run_dir / "steering.json"

    @property
    def settings(self) -> Path:
        """Digests of the settings that the engine works with, without those by default."""
        return self.run_dir / "settings"

    @property
    def grace(self) -> Path:
        """Seconds of grace that the person who asks for a stop wants, instead of the default."""
        return self.run_dir / "grace"

    @property
    def halted(self) -> Path:
        """There when a person ended the last engine by force: what ran then is not to blame."""
        return self.run_dir / "halted"

    @property
    def stopped(self) -> Path:
        """There since a person stopped the daemon, until work is asked for again."""
        return self.run_dir / "stopped"

    @property
    def awake(self) -> Path:
        """Whether the supervisor keeps the machine awake. Meaningless when its lock is free."""
        return self.run_dir / "awake"

    @property
    def alive(self) -> Path:
        """Its time is the last moment in which an engine lived; what is in it says how it left."""
        return self.run_dir / "alive"

    def dashboard_lock(self, port: int | str) -> Path:
        """Held with flock while a dashboard of ours listens on the port that devices come by."""
        return self.run_dir / f"dashboard-{port}.lock"

    @property
    def logs_dir(self) -> Path:
        return self.data / "logs"

    @property
    def supervisor_log(self) -> Path:
        return self.logs_dir / "supervisor.log"

    @property
    def engine_log(self) -> Path:
        return self.logs_dir / "engine.log"

    @property
    def engine_last_words(self) -> Path:
        """What the current engine wrote to stderr: empty, unless it dies badly."""
        return self.logs_dir / "engine.err"

    def prepare(self) -> Self:
        """
        Make the directories, closed to everybody else.

        Raises:
            PerpetualError: the data directory cannot be used, or its socket's path is too long.
        """
        self.refuse_long_socket()
        try:
            for directory in (self.data, self.run_dir, self.logs_dir):
                _make_private(directory)
        except OSError as error:
            raise PerpetualError(
                f"The data directory '{self.data}' cannot be used: {error.strerror}",
                hint="Choose another one with --data-dir, or correct its permissions",
            ) from error
        return self

    def refuse_long_socket(self) -> None:
        """Raises PerpetualError: the system allows no socket with such a path."""
        if (length := len(bytes(self.socket))) > SOCKET_PATH_LIMIT:
            raise PerpetualError(
                f"The socket path '{self.socket}' is too long"
                f" ({length} bytes, the system allows {SOCKET_PATH_LIMIT})",
                hint="Choose a shorter directory: pcc --data-dir ~/.pcc …",
            )


def _make_private(directory: Path) -> None:
    if directory.is_dir():
        if directory.stat().st_mode & 0o077:
            directory.chmod(0o700)
        return
    if not directory.parent.exists():
        _make_private(directory.parent)
    directory.mkdir(mode=0o700, exist_ok=True)
