"""Programs that write to chips or speak to devices, where one word more cannot be undone."""

import re
from dataclasses import replace

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.foreign_code import code_path
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


_DEVICE = re.compile(r"(?:^|[=,:])/dev/(?!(?:null|zero|u?random)\b|tty|pts|std|cu\.|serial)\w")
"""A device that is none of those which everybody reads, and no serial line."""


@handles("device-paths")
def device_paths(call: Call) -> Findings:
    """`qemu-img create -f raw /dev/sdb 1G`: what is written is a whole disk."""
    return _whole_disks(call)


_DISK_OPTIONS = frozenset(
    {"-kernel", "-initrd", "-dtb", "-hda", "-hdb", "-hdc", "-hdd", "-cdrom", "-fda", "-fdb",
     "-pflash", "-mtdblock", "-sd", "-drive", "-blockdev", "-bios"}
)  # fmt: skip
_SHARES = frozenset({"-virtfs", "-fsdev"})
_CONTROLS = frozenset(
    {"-monitor", "-qmp", "-serial", "-gdb", "-mon", "-chardev", "-vnc", "-spice",
     "-net", "-nic", "-netdev"}
)  # fmt: skip


@handles("emulator")
def emulator(call: Call) -> Findings:
    """The machine inside sees what it is given: disks, folders, the network."""
    findings = _whole_disks(call)
    given = [(g.name, g.value.text) for g in call.arguments.given if g.value]
    for name, value in given:
        if name in _DISK_OPTIONS:
            paths = [field.partition("=")[2] or field for field in value.split(",")]
            findings += [found for path in paths for found in code_path(path, call)]
        elif name in _SHARES:
            why = "Shows the machine inside a folder of this one"
            findings.append(call.finding(Risk.MEDIUM, "emulates", why, EffectKind.EXECUTE))
        elif name in _CONTROLS and _LISTENS.match(value):
            why = "Lets others rule the machine inside, over the network"
            findings.append(call.finding(Risk.MEDIUM, "emulates", why, EffectKind.NETWORK))
    return findings


_LISTENS = re.compile(
    r"socket,.*host=(?!127\.|localhost)|.*hostfwd=(?:tcp|udp):(?:0\.0\.0\.0)?:|(?:0\.0\.0\.0)?:\d"
    r"|(?:tcp|telnet|udp):(?!127\.|localhost|\[::1\]|::?1?:)"
)


def _whole_disks(call: Call) -> Findings:
    named = [word.text for word in call.command.words[1:] if _DEVICE.search(word.text)]
    if not named:
        return []
    why = f"Works on the device {named[0][:60]} itself"
    return [call.finding(Risk.HIGH, "disks", why, EffectKind.DELETE)]
