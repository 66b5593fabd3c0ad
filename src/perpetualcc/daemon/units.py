"""
Service units, so that the daemon is there after login: a systemd user unit, a launchd agent.

Texts and paths only, plus the commands that switch them on and off. Fixed argument lists, no
shell, everything escaped.
"""

import hashlib
import os
import plistlib
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from shutil import which

from perpetualcc.domain.locations import Locations

_STOP_SECONDS = 45
"""What the service manager waits: the default grace of 30 s and room to close."""


class Service(Enum):
    """What can be there after login: what it is called beside others, and what it is."""

    DAEMON = ("", "PerpetualCC keeps Claude Code working")
    DASHBOARD = ("-dashboard", "PerpetualCC's dashboard for paired devices")

    def __init__(self, suffix: str, about: str) -> None:
        self.suffix, self.about = suffix, about

    def command_line(self, locations: Locations) -> list[str]:
        place = ["--data-dir", str(locations.data)]
        words = {
            Service.DAEMON: ["perpetualcc.daemon.supervisor", *place],
            Service.DASHBOARD: ["perpetualcc", *place, "dashboard", "--for-devices"],
        }
        return [sys.executable, "-P", "-m", *words[self]]

    def log(self, locations: Locations) -> Path:
        own = {Service.DASHBOARD: locations.supervisor_log.with_name("dashboard.log")}
        return own.get(self, locations.supervisor_log)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceUnit:
    """A file to write and the commands around it."""

    path: Path
    text: str
    enable: list[list[str]]
    """Run after the file is written."""
    disable: list[list[str]]
    """Run before the file is removed."""
    after_removal: list[list[str]]
    probe: list[str]
    """Succeeds where the commands can work at all."""
    is_on: list[str] = field(default_factory=list)
    """Succeeds while it is switched on; empty where switching it twice does no harm."""
    note: str = ""

    def can_be_switched(self) -> bool:
        """True when the service manager is there and answers."""
        return which(self.probe[0]) is not None and _succeeds(self.probe)

    def enabling(self) -> list[list[str]]:
        """What is to be run now to switch it on."""
        return [] if self.is_on and _succeeds(self.is_on) else self.enable

    def disabling(self) -> list[list[str]]:
        """What is to be run now to switch it off."""
        return self.disable if not self.is_on or _succeeds(self.is_on) else []


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def unit_for_this_system(
    locations: Locations,
    *,
    home: Path,
    config: Path,
    variables: Mapping[str, str],
    service: Service = Service.DAEMON,
) -> ServiceUnit:
    """
    `config` is where programs keep their configuration (XDG). `variables` are the daemon's; with
    the PATH of Claude's commands: a manager's is short.
    """
    return (
        launchd_agent(locations, home=home, variables=variables, service=service)
        if sys.platform == "darwin"
        else systemd_unit(locations, home=home, config=config, variables=variables, service=service)
    )


def systemd_unit(
    locations: Locations,
    *,
    home: Path,
    config: Path,
    variables: Mapping[str, str],
    service: Service = Service.DAEMON,
) -> ServiceUnit:
    name = f"{_name(locations, home)}{service.suffix}.service"
    systemctl = ["systemctl", "--user"]
    words = " ".join(_systemd_quoted(word) for word in service.command_line(locations))
    environment = "\n".join(
        f"Environment={_systemd_quoted(f'{name}={value}', in_command=False)}"
        for name, value in variables.items()
    )
    text = f"""\
[Unit]
Description={service.about}

[Service]
Type=exec
ExecStart={words}
{environment}
KillMode=mixed
TimeoutStopSec={_STOP_SECONDS}
Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
"""
    path = config / "systemd" / "user" / name
    return ServiceUnit(
        path=path,
        text=text,
        # By its path: the manager, which began at login, may look elsewhere than this terminal.
        enable=[[*systemctl, "daemon-reload"], [*systemctl, "enable", "--now", str(path)]],
        disable=[[*systemctl, "disable", "--now", name]],
        after_removal=[[*systemctl, "daemon-reload"]],
        probe=[*systemctl, "show-environment"],
        note="It runs while you are logged in; `loginctl enable-linger` keeps it always.",
    )


def launchd_agent(
    locations: Locations,
    *,
    home: Path,
    variables: Mapping[str, str],
    service: Service = Service.DAEMON,
) -> ServiceUnit:
    label = f"{_name(locations, home)}{service.suffix}"
    path = home / "Library" / "LaunchAgents" / f"{label}.plist"
    domain = f"gui/{os.getuid()}"
    job = f"{domain}/{label}"
    agent = {
        "Label": label,
        "ProgramArguments": service.command_line(locations),
        "EnvironmentVariables": dict(variables),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        # Whatever a session runs inherits it: `Background` would be the slow cores alone.
        "ProcessType": "Interactive",
        "ExitTimeOut": _STOP_SECONDS,
        "StandardErrorPath": str(service.log(locations)),
    }
    return ServiceUnit(
        path=path,
        text=plistlib.dumps(agent).decode(),
        # Not `load`, which says that all is well when nothing was loaded.
        enable=[["launchctl", "enable", job], ["launchctl", "bootstrap", domain, str(path)]],
        disable=[["launchctl", "bootout", job]],
        after_removal=[],
        probe=["launchctl", "print", domain],
        is_on=["launchctl", "print", job],
        note="It runs while you are logged in. What changes in it counts from the next login.",
    )


def _name(locations: Locations, home: Path) -> str:
    """One unit for each data directory; the usual one has the plain name."""
    if locations.data == home / ".perpetualcc" / "data":
        return "perpetualcc"
    return f"perpetualcc-{hashlib.sha256(bytes(locations.data)).hexdigest()[:8]}"


def _systemd_quoted(word: str, *, in_command: bool = True) -> str:
    """systemd.service(5) "Command lines" and systemd.syntax(7) "Quoting"."""
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    return f'"{word.replace("$", "$$") if in_command else word}"'
