"""Where a script stands as it is followed: the variables' values and the working directories."""

from collections.abc import Iterator
from contextlib import contextmanager

from perpetualcc.permissions.shell.directories import Directories, after_change
from perpetualcc.permissions.shell.script import UNKNOWN, SimpleCommand
from perpetualcc.permissions.shell.variables import Variables

DIRECTORY_LIMIT = 6
"""More possible directories than this are 'anywhere'."""

Moment = tuple[dict[str, str], Directories, frozenset[str]]
"""What is known at one point of the script: variables, directories, functions."""


class Standing:
    """Follows what a script changes, and forgets what it may or may not have changed."""

    def __init__(self, *, home: str, project: str, cwds: Directories) -> None:
        self.home, self.cwds = home, cwds
        self.variables = Variables(home=home, project=project, cwd=cwds[0] or UNKNOWN)
        self.functions: frozenset[str] = frozenset()
        """What is a function here, whatever happened before."""
        self.ends: Directories = ()
        """Where the subshells so far have ended: there their traps run."""

    @contextmanager
    def isolated(self) -> Iterator[None]:
        """Subshells and pipes: nothing that changes inside is seen afterwards."""
        variables, cwds, functions = self.snapshot()
        yield
        self.ends = either(self.ends, self.cwds)
        self.variables.restore(variables)
        self.cwds, self.functions = cwds, functions

    def snapshot(self) -> Moment:
        return self.variables.snapshot(), self.cwds, self.functions

    def merge(self, before: Moment) -> None:
        """After what may or may not have run: whatever it changed is unknown."""
        self.variables.merge(before[0])
        self.cwds = either(self.cwds, before[1])
        self.functions &= before[2]

    def change_directory(self, command: SimpleCommand) -> None:
        """It may fail, and then the rest of the list runs where it was; `&&` says it did not."""
        self.stand(after_change(command, home=self.home))

    def stand(self, cwds: Directories) -> None:
        """From here on in one of `cwds`."""
        self.cwds = cwds
        self.variables.set("PWD", (cwds[0] if len(cwds) == 1 else None) or UNKNOWN)


def either(some: Directories, others: Directories) -> Directories:
    if some == others:
        return others
    both = tuple(dict.fromkeys((*some, *others)))
    return both if len(both) <= DIRECTORY_LIMIT else (None,)
