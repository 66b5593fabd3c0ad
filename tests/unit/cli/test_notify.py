"""`pcc notify test`: why nothing is sent, in words that help."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from perpetualcc.cli import notifications, notify
from perpetualcc.cli.main import app


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("enabled = false", "notifications.enabled is off"),
        ("", "were set otherwise since"),
    ],
)
def test_what_keeps_messages_back_is_named(tmp_path, monkeypatch, settings, said):
    file = tmp_path / "mine.toml"
    file.write_text(f'[notifications]\nurls = ["json://127.0.0.1:1/"]\n{settings}\n')
    monkeypatch.setenv("PERPETUALCC_CONFIG", str(file))
    daemon = SimpleNamespace(call=lambda _method: [])
    monkeypatch.setattr(notify, "connect", lambda _options: nullcontext(daemon))
    monkeypatch.setattr(notify, "take_over", lambda _options: None)
    changed = [] if settings else ["notifications"]
    monkeypatch.setattr(notify, "set_otherwise", lambda *_: changed)

    assert said in CliRunner().invoke(app, ["notify", "test"]).exception.message


@pytest.mark.parametrize(
    ("problem", "said"), [("", "at 2033-05-18 "), ("It was refused", "again 2033-05-18 ")]
)
def test_a_message_that_waits_for_the_morning_says_when_it_leaves(monkeypatch, problem, said):
    waiting = {
        "id": 1,
        "created_at": 1.0,
        "channel": "json:1",
        "state": "queued",
        "title": "Asked",
        "due": 2_000_000_000.0,
        "problem": problem,
    }
    daemon = SimpleNamespace(call=lambda _method, limit: [waiting][:limit])
    monkeypatch.setattr(notifications, "connect", lambda _options: nullcontext(daemon))

    assert said in CliRunner().invoke(app, ["notifications"]).stdout
