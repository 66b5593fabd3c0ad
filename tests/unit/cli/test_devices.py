"""`pcc devices pair`: the link, and how to have it as a QR code."""

import sys

from perpetualcc.cli import devices


def test_a_terminal_without_a_qr_code_says_what_draws_one(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "segno", None)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    devices._show("https://box.test/#code")

    shown = capsys.readouterr()
    assert shown.out == "https://box.test/#code\n"
    assert "perpetualcc[remote]" in shown.err
