"""What is there after login: its unit is shown, written and switched on, or all of that undone."""

import shlex
import subprocess
from pathlib import Path

import typer

from perpetualcc import config
from perpetualcc.cli.look import tell
from perpetualcc.daemon.units import Service, ServiceUnit, unit_for_this_system
from perpetualcc.domain.errors import PerpetualError

_LANGUAGE = ("LANG", "LC_ALL", "LC_CTYPE")
_GOES_ON = 36
"""`launchctl bootout` of what takes its time to end, as a daemon at work does (EINPROGRESS)."""


def install_service(ctx: typer.Context, service: Service, *, dry_run: bool) -> None:
    unit = _unit(ctx, service)
    print(f"# {unit.path}\n{unit.text}")
    if lost := sorted(config.steering().keys() - {config.CONFIG_VARIABLE}):
        tell(
            f"note: At login it starts without your {', '.join(lost)}: no key is written into"
            " the unit; sign in with pcc login, or set them for the service"
        )
    if dry_run:
        _show_commands("Would then run:", unit.enable)
        return
    ctx.obj.locations.prepare()  # a service manager makes no directory for a log
    unit.path.parent.mkdir(parents=True, exist_ok=True)
    unit.path.write_text(unit.text, "utf-8")
    unit.path.chmod(0o644)  # launchd takes none that others may write
    print(f"Wrote {unit.path}")
    if unit.can_be_switched():
        _run(unit.enabling())
    else:
        _show_commands("No service manager answers here. To switch it on, type:", unit.enable)
    if unit.note:
        print(unit.note)


def uninstall_service(ctx: typer.Context, service: Service, *, dry_run: bool) -> None:
    unit = _unit(ctx, service)
    if not unit.path.exists():
        print(f"Nothing is installed: there is no {unit.path}")
        return
    if dry_run:
        _show_commands(f"Would remove {unit.path} and run:", [*unit.disable, *unit.after_removal])
        return
    can_be_switched = unit.can_be_switched()
    if can_be_switched:
        _run(unit.disabling())
    unit.path.unlink()
    print(f"Removed {unit.path}")
    if can_be_switched:
        _run(unit.after_removal)


def _unit(ctx: typer.Context, service: Service) -> ServiceUnit:
    # A manager may know no language: what a session runs then takes text for ASCII.
    variables = {"PATH": config.search_path(), **config.of_this_terminal(_LANGUAGE)}
    if config.is_config_named():
        variables[config.CONFIG_VARIABLE] = str(config.config_path())
    return unit_for_this_system(
        ctx.obj.locations,
        home=Path.home(),
        config=config.user_configuration(),
        variables=variables,
        service=service,
    )


def _show_commands(title: str, commands: list[list[str]]) -> None:
    print(title)
    for command in commands:
        print(f"  {shlex.join(command)}")


def _run(commands: list[list[str]]) -> None:
    for command in commands:
        _show_commands("Running:", [command])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in {0, _GOES_ON}:
            raise PerpetualError(
                f"'{command[0]}' fails: {done.stderr.strip()}", hint="Type the command yourself"
            )
