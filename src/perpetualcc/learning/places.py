"""Where learning keeps its files: below Claude Code's own directory, as seed 004 has it."""

from dataclasses import dataclass
from pathlib import Path

from perpetualcc.domain.private_files import make_private


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """
    The files of one user. `claude` is `CLAUDE_CONFIG_DIR` or `~/.claude`.

    What a person accepted is judged by a key in here, out of the reach of a repository's files.
    """

    claude: Path

    @property
    def home(self) -> Path:
        return self.claude / "learning"

    @property
    def queue(self) -> Path:
        return self.claude / "learning_queue.jsonl"

    @property
    def heartbeat(self) -> Path:
        return self.claude / "worker_heartbeat.json"

    @property
    def log(self) -> Path:
        return self.claude / "worker.log"

    @property
    def settings(self) -> Path:
        return self.claude / "settings.json"

    @property
    def spool(self) -> Path:
        return self.home / "spool"

    @property
    def state(self) -> Path:
        return self.home / "state.json"

    @property
    def lock(self) -> Path:
        return self.home / "worker.lock"

    @property
    def stopped(self) -> Path:
        """There while a person wants no worker (`pcc learn stop`)."""
        return self.home / "stopped"

    @property
    def rejected(self) -> Path:
        return self.home / "rejected.jsonl"

    @property
    def key(self) -> Path:
        return self.home / "key"

    @property
    def options(self) -> Path:
        return self.home / "options.json"

    @property
    def registry(self) -> Path:
        return self.home / "projects.json"

    @property
    def everywhere(self) -> Path:
        """The memory of global rules."""
        return self.home / "memory.json"

    def block(self, project: str = "") -> Path:
        """What a new session in a project is told. The project's path is repeated below."""
        if not project:
            return self.home / "blocks" / "block.md"
        return Path(f"{self.home}/blocks/projects{project}/block.md")

    def memory(self, project: str) -> Path:
        """A project's memory: in the project, or beside our own files when it cannot be there."""
        return Path(project) / ".data" / "memory.json"

    def stand_in(self, project: str) -> Path:
        return Path(f"{self.home}/projects{project}/memory.json")

    def make(self) -> None:
        """Create the directories, for this user alone; close what an older version left open."""
        self.claude.mkdir(mode=0o700, parents=True, exist_ok=True)
        for directory in (self.home, self.spool, self.home / "blocks"):
            directory.mkdir(mode=0o700, exist_ok=True)
        for pattern in ("learning_queue*", "worker.log*", "worker_heartbeat.json"):
            make_private(self.claude.glob(pattern))
        make_private(self.home.rglob("*"))
