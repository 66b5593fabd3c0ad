"""Work on an index in a process of its own, which leaves the processor to others."""

import shutil
import sys


def at_low_priority(*arguments: str) -> list[str]:
    """`pcc` with these arguments, as a command; at usual priority where there is no `nice`."""
    nice = shutil.which("nice")
    patiently = (nice, "-n", "10") if nice else ()
    return [*patiently, sys.executable, "-m", "perpetualcc", *arguments]
