"""How a command reaches the engine, or says why not."""

import os
import sys
from dataclasses import replace

import pytest

from perpetualcc.daemon import launch
from perpetualcc.daemon.state import DaemonStatus, Phase
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.version import code_version


def test_a_daemon_of_another_version_that_gave_up_is_told_as_such(tmp_path):
    places = Locations(data=tmp_path)
    gave_up = DaemonStatus(
        phase=Phase.GAVE_UP, crashes=1, problem="The database is newer", version=code_version()
    )

    def hint_for(status: DaemonStatus) -> str:
        with pytest.raises(launch.DaemonUnavailable, match="The database is newer") as told:
            launch._raise_if_hopeless(status, places)
        return str(told.value.hint)

    assert hint_for(gave_up).startswith("Once that is mended: pcc daemon restart")
    assert "another version" in hint_for(replace(gave_up, version="0.0.1"))
    assert "pcc daemon restart" in hint_for(replace(gave_up, version="0.0.1"))


def test_a_daemon_of_another_user_is_told_as_such(tmp_path):
    places = Locations(data=tmp_path).prepare()
    if os.getuid() == 0:
        places.socket.touch()
        os.chown(places.socket, 12345, 12345)
    else:
        places.socket.symlink_to("/")

    with pytest.raises(launch.DaemonUnavailable, match="another user's") as told:
        launch._raise_if_out_of_reach(places, DaemonStatus())

    assert "--data-dir" in str(told.value.hint)
    places.socket.unlink()
    launch._raise_if_out_of_reach(places, DaemonStatus())
    places.socket.touch()
    launch._raise_if_out_of_reach(places, DaemonStatus())


def test_a_system_that_lets_no_process_begin_is_told_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "removed"))

    with pytest.raises(launch.DaemonUnavailable, match="No such file") as told:
        launch.launch(Locations(data=tmp_path))

    assert "try it: " in str(told.value.hint)
