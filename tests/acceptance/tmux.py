"""The real Claude Code as a person has it: its full-screen interface in a terminal of tmux."""

import json
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

_NUMBERS = count(1)
_KEY_TAIL = 20
"""Claude Code remembers an approved API key by its last characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One terminal window with a program in it."""

    socket: Path

    def type(self, text: str) -> None:
        """Type and press Enter, as two events: pasted line ends do not send."""
        self._tmux("send-keys", "-t", "main", "-l", text)
        time.sleep(0.4)
        self._tmux("send-keys", "-t", "main", "Enter")

    def keys(self, text: str) -> None:
        """Type, and no Enter."""
        self._tmux("send-keys", "-t", "main", "-l", text)

    def paste(self, text: str) -> None:
        """As a terminal does that marks what is pasted, where it was asked to."""
        self._tmux("set-buffer", text)
        self._tmux("paste-buffer", "-p", "-t", "main")

    def resize(self, columns: int) -> None:
        self._tmux("resize-window", "-t", "main", "-x", str(columns), "-y", "40")

    def press(self, key: str) -> None:
        self._tmux("send-keys", "-t", "main", key)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "main").stdout

    def wait_for(self, text: str, *, within: float = 60.0) -> None:
        deadline = time.monotonic() + within
        while text not in self.screen:
            assert time.monotonic() < deadline, f"{text!r} does not come:\n{self.screen}"
            time.sleep(0.2)

    def _tmux(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["tmux", "-S", str(self.socket), *words],
            capture_output=True, text=True, check=False, timeout=10,
        )  # fmt: skip


def past_the_welcome(config: Path, key: str, *projects: Path) -> None:
    """What Claude Code has noted after its first start: theme, key and trusted folders."""
    config.mkdir(parents=True, exist_ok=True)
    noted = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key[-_KEY_TAIL:]], "rejected": []},
        "projects": {
            str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
            for project in projects
        },
    }
    (config / ".claude.json").write_text(json.dumps(noted))


@contextmanager
def window(
    command: list[str], cwd: Path, environment: Mapping[str, str], socket: Path
) -> Iterator[Window]:
    """A window of 120 columns; what runs in it is ended at the end."""
    words = [
        "env",
        "-i",
        "TERM=xterm-256color",
        *(f"{k}={v}" for k, v in environment.items()),
        *command,
    ]
    # Its own server: the last one may still be going away from the same socket.
    socket = socket.with_name(f"{socket.name}-{next(_NUMBERS)}")
    subprocess.run(
        ["tmux", "-S", str(socket), "-f", "/dev/null", "new-session", "-d", "-s", "main",
         "-x", "120", "-y", "40", "-c", str(cwd), shlex.join(words)],
        check=True, timeout=10, env={**environment, "TERM": "xterm-256color"},
    )  # fmt: skip
    try:
        yield Window(socket=socket)
    finally:
        subprocess.run(["tmux", "-S", str(socket), "kill-server"], check=False, timeout=10)
