"""Code in plain text: where a shell wants a number or a name, `a[$(id)]` runs `id`."""

import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.shell.numbers import RUNS_AS_NUMBER
from perpetualcc.permissions.shell.script import UNKNOWN

_NO_NUMBERS = frozenset({"echo", ":", "true", "false"})
_NUMBER_FORMAT = re.compile(rf"%[^%a-zA-Z]*[hlLqjzt]*(?:\*|[diouxXeEfFgGaAn]|{UNKNOWN})|{UNKNOWN}")
"""Of `printf`; zsh also takes the width from a word."""


def judge_subscripts(call: Call) -> Findings:
    """`read 'a[$(id)]'`, and of zsh alone `exit 'a[$(id)]'` and `printf %d 'a[$(id)]'`."""
    texts = [word.text for word in call.command.words[1:] if RUNS_AS_NUMBER.search(word.text)]
    if not texts or not _counts(call):
        return []
    why = "A subscript here can run a command"
    run = "\n".join((": <<SUBSCRIPT", *texts, "SUBSCRIPT"))
    found = [f for f in call.judge.shell(run, call) if f.risk is Risk.HIGH]
    return [call.finding(Risk.MEDIUM, "subscript", why), *found]


def _counts(call: Call) -> bool:
    """Whether it may take one of its words for a number or a variable."""
    if call.arguments.path in _NO_NUMBERS:
        return False
    if call.arguments.path != "printf" or call.arguments.has("-v"):
        return True
    # The format, where `--` may stand before it.
    return any(_NUMBER_FORMAT.search(word.text) for word in call.command.words[1:3])
