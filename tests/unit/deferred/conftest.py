"""The local clock that words about time are read by."""

import time

import pytest


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
