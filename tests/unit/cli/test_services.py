"""`pcc daemon install` on macOS, with a launchctl that answers as Apple's does."""

import os
import plistlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.services import install_service, uninstall_service
from perpetualcc.daemon.units import Service
from perpetualcc.domain.errors import PerpetualError

LAUNCHCTL = """#!/bin/sh
# Jobs are files. A plist that others may write is refused; what ends slowly is "in progress".
cd "$(dirname "$0")" || exit 1
case $1 in
    print) [ -e "jobs/${2##*/}" ] || { echo "Could not find service" >&2; exit 113; } ;;
    enable) true ;;
    bootstrap)
        [ -z "$(find "$3" -perm -g+w -o -perm -o+w)" ] ||
            { echo "Path had bad ownership/permissions" >&2; exit 122; }
        touch "jobs/$(basename "$3" .plist)" ;;
    bootout) rm "jobs/${2##*/}" && exit 36 ;;
    *) exit 64 ;;
esac
"""


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A Mac with somebody at its screen, whose files their group may write."""
    jobs = tmp_path / "bin" / "jobs"
    jobs.mkdir(parents=True)
    (jobs / str(os.getuid())).touch()
    (tmp_path / "bin" / "launchctl").write_text(LAUNCHCTL)
    (tmp_path / "bin" / "launchctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "darwin")
    before = os.umask(0o002)
    yield SimpleNamespace(
        ctx=SimpleNamespace(obj=GlobalOptions()),
        jobs=jobs,
        agents=tmp_path / "Library" / "LaunchAgents",
    )
    os.umask(before)


def test_the_daemon_is_there_at_login_until_it_is_taken_out(mac) -> None:
    install_service(mac.ctx, Service.DAEMON, dry_run=False)
    install_service(mac.ctx, Service.DAEMON, dry_run=False)

    plist = mac.agents / "perpetualcc.plist"
    assert plistlib.loads(plist.read_bytes())["RunAtLoad"] is True
    assert (mac.jobs / "perpetualcc").exists()

    uninstall_service(mac.ctx, Service.DAEMON, dry_run=False)

    assert not plist.exists()
    assert not (mac.jobs / "perpetualcc").exists()


def test_what_launchctl_refuses_is_said_in_its_words(mac) -> None:
    (mac.jobs.parent / "launchctl").write_text(
        LAUNCHCTL.replace("enable) true", "enable) echo 'Not privileged' >&2; exit 1")
    )

    with pytest.raises(PerpetualError, match="'launchctl' fails: Not privileged"):
        install_service(mac.ctx, Service.DAEMON, dry_run=False)


def test_nobody_at_the_screen_is_told_what_to_type(mac, capsys) -> None:
    (mac.jobs / str(os.getuid())).unlink()

    install_service(mac.ctx, Service.DAEMON, dry_run=False)

    assert "To switch it on, type:\n  launchctl enable gui/" in capsys.readouterr().out
