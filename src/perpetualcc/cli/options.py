"""The global options, as every command finds them in `ctx.obj`."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalOptions:
    """What was typed before the command."""

    config: Path | None = None
    data_dir: Path | None = None
    verbose: bool = False
    quiet: bool = False
