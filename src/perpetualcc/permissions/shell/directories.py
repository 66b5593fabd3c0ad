"""Where a script is after `cd`, as far as that can be known."""

import posixpath
import re

from perpetualcc.permissions.shell.script import UNKNOWN, SimpleCommand

DIRECTORY_COMMANDS = frozenset({"cd", "pushd", "popd", "chdir"})
_STACKED = re.compile(r"[-+]\d+")
Directories = tuple[str | None, ...]
"""Every directory that is possible here; None is one that cannot be known."""


def after_change(command: SimpleCommand, *, home: str) -> Directories:
    """Where the commands after this `cd` run, when it succeeds."""
    operands = [w.text for w in command.words[1:] if w.text == "-" or not w.text.startswith("-")]
    given = [word.text for word in command.words]
    if given[0] == "popd" or given == ["pushd"] or any(word.globs for word in command.words):
        return (None,)
    if any(_STACKED.fullmatch(text) for text in given):  # `cd -2`: where the shell was before
        return (None,)
    target = operands[0] if operands else home
    if UNKNOWN in target or target == "-" or len(operands) > 1 or target.startswith("+"):
        return (None,)
    return tuple(dict.fromkeys(join(cwd, target, home=home) for cwd in command.cwds))


def join(cwd: str | None, target: str, *, home: str) -> str | None:
    """`target` as seen from `cwd`, normalised in its text only. None when it cannot be known."""
    path = as_written(cwd, target, home=home)
    return None if path is None else posixpath.normpath(path)


def as_written(cwd: str | None, target: str, *, home: str) -> str | None:
    """The same with every `..`: behind a link it is not what the text says."""
    if target == "~" or target.startswith("~/"):
        target = home + target[1:]
    if not target.startswith("/"):
        if cwd is None:
            return None
        target = f"{cwd}/{target}"
    return target
