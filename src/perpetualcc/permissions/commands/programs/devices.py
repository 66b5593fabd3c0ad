"""Programs that write to chips or speak to devices, where one word more cannot be undone."""

import re
from dataclasses import replace

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.effects import EffectKind

_FUSES = re.compile(r"(?:[lheab]?fuse\w*|lock\w*):w:")


@handles("avrdude")
def avrdude(call: Call) -> Findings:
    """`-U flash:w:x.hex` writes the program, `-U lfuse:w:…` a fuse; any of several may."""
    if not any(_FUSES.match(word.text.removeprefix("-U")) for word in call.arguments.rest):
        return []
    why = "Burns the fuses of a chip, which cannot be undone"
    return [call.finding(Risk.HIGH, "burns-fuses", why, EffectKind.DELETE)]


_JOINS = re.compile(r"[;&|<>`$(]")
"""With one of these, the device's shell does more than the first words say."""


@handles("device-shell")
def device_shell(call: Call) -> Findings:
    """`adb shell rm -rf /sdcard`: judged as if here; `adb shell 'pm clear x'` as `pm clear x`."""
    words = call.command.words
    at = next((i for i, w in enumerate(words) if w.text in {"shell", "exec-out"}), len(words))
    inner = words[at + 1 :]
    text = " ".join(word.text for word in inner)
    if not text:
        return []
    findings = call.judge.shell(text, call)
    if len(inner) == 1 and " " in text:
        findings += call.judge.shell(f"adb shell {text}", call)
    if not _JOINS.search(text):
        findings = [f for f in findings if f.risk is Risk.HIGH]
    return [replace(f, words=()) for f in findings if not f.rule.startswith(("write-", "read-"))]
