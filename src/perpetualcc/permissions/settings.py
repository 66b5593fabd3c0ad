"""What a person may set about permissions (seed 000, `[permissions]`)."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath


class SandboxMode(StrEnum):
    """When Claude Code's commands run in the operating system's sandbox."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionSettings:
    """The `[permissions]` section, with the seed's defaults."""

    auto_approve_low_risk: bool = True
    """Off: a person is asked even about LOW."""
    safe_directories: tuple[str, ...] = ("src/", "tests/", "lib/", "app/", "packages/")
    """Below the project; writing there is LOW."""
    blocked_commands: tuple[str, ...] = ("rm -rf /", "sudo", "curl | sh")
    """Command patterns, read as commands and not as text, that are always refused."""
    credential_paths: tuple[str, ...] = ()
    """More places that hold credentials, as patterns like those in `knowledge/protected.toml`."""
    credential_exceptions: tuple[str, ...] = ()
    """Places that look like credentials and are not."""
    trusted_hosts: tuple[str, ...] = ()
    """Hosts, matched exactly, that WebFetch may read without asking."""
    offer_rule_after_approvals: int = 3
    """A person's approvals of one kind before a rule is offered; 0: never."""
    sandbox: SandboxMode = SandboxMode.AUTO
    """`auto`: levels 1 and 2 use it where there is one; `on`: everything must; `off`: nothing."""
    is_whole: bool = field(default=True, metadata={"is_setting": False})
    """False while a policy that counts has a mistake: what it forbids may be what is asked for,
    so nothing goes on without a person, whatever a brain thinks."""
    home: Path = field(default_factory=Path.home, metadata={"is_setting": False})
    """What `~` means."""


def leaves_project(directory: str) -> bool:
    """Whether a safe directory is no part of the project, or all of it."""
    path = PurePosixPath(directory.strip())
    is_elsewhere = path.is_absolute() or directory.startswith("~")
    return is_elsewhere or ".." in path.parts or not path.parts
