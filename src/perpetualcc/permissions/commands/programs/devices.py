"""Programs that write to chips, where one word more burns what cannot be undone."""

import re

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
