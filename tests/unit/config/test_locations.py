"""Where everything is, and that it is in one place."""

import pwd
from pathlib import Path

import pytest

from perpetualcc import config
from perpetualcc.domain.errors import PerpetualError


@pytest.mark.parametrize("home", ["", "relative"])
def test_without_a_home_no_folder_gets_a_daemon_of_its_own(home, monkeypatch):
    def nobody(_uid):
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setenv("HOME", home)
    if not home:
        monkeypatch.delenv("HOME")

    with pytest.raises(PerpetualError, match="no home directory"):
        config.locate()
    assert config.locate(Path("/data")).data == Path("/data")
