"""
Directories that a line may put before those that are searched already.

`PYTHONPATH=$PWD` finds the project's own code, and `PATH=$HOME/.cargo/bin:$PATH` programs that
the person's own tools have put there; any other place can change what a known name means.
"""

import posixpath
import re

from perpetualcc.permissions.paths import Territory, Zone
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.shell.script import UNKNOWN

PROGRAM_DIRECTORIES = frozenset(
    {"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin",
     "/usr/libexec", "/opt/homebrew/bin", "/opt/homebrew/sbin", "/snap/bin", "/opt/local/bin"}
)  # fmt: skip
"""Where the machine's own programs lie."""
LOCAL_PROGRAMS = ("node_modules/.bin", "vendor/bin", "env/bin", ".bin")
"""Ends of the directories in which a project has its own copies of programs."""
_SYSTEM_TOOLS = re.compile(
    r"/usr/local/go/bin|/opt/homebrew/(?:opt/[\w.@+-]+/)?s?bin|/usr/lib/(?:jvm|llvm)[\w./-]*/bin"
    r"|/usr/lib/postgresql/\d+/bin|/usr/local/opt/[\w.@+-]+/bin|/usr/local/cuda[\w.-]*/bin"
)
_HOME_TOOLS = re.compile(
    r"(?:\.(?:cargo|local|bun|deno|volta|fnm|poetry|krew|rd|foundry|elan|ghcup|cabal|nimble|pub-cache"
    r"|juliaup|moon|proto|yarn|rbenv|pyenv|nodenv|asdf|rye)|go|n|flutter|miniconda3|anaconda3)/bin"
    r"|\.(?:pyenv|rbenv|nodenv|jenv|goenv|asdf|rye|proto)/shims|\.local/share/(?:mise/shims|pnpm)"
    r"|Library/pnpm|\.dotnet(?:/tools)?|(?:\.config/|\.)composer/vendor/bin|\.krew/bin"
    r"|\.nvm/versions/node/v[\w.]+/bin|\.sdkman/candidates/\w+/[\w.-]+/bin|\.gem/[\w./]+/bin"
)
_PROJECT_TOOLS = re.compile(r"(?:[\w.-]+/)*(?:node_modules/\.bin|\.?v?env/bin|vendor/bin)")


_SETUP_FILE = re.compile(
    r"\.nvm/nvm\.sh|\.cargo/env|\.sdkman/bin/sdkman-init\.sh|\.asdf/asdf\.sh|\.rvm/scripts/rvm"
    r"|\.(?:mini|ana)?conda3?/etc/profile\.d/conda\.sh|(?:mini|ana)conda3/(?:etc/profile\.d/conda\.sh|bin/activate)"
    r"|\.ghcup/env|\.opam/opam-init/init\.sh|\.deno/env|\.bun/env|\.local/bin/env|\.gvm/scripts/gvm|emsdk/emsdk_env\.sh|esp/esp-idf/export\.sh|\.nix-profile/etc/profile\.d/nix\.sh"
)


def sets_up_a_tool(path: str, home: str) -> bool:
    """`source ~/.nvm/nvm.sh`: what a version manager's own manual says to source."""
    return path.startswith(f"{home}/") and bool(_SETUP_FILE.fullmatch(path[len(home) + 1 :]))


def are_ordinary(value: str, kind: str, territory: Territory, cwds: Directories) -> bool:
    """Whether every directory in `value` is in the project, or holds tools, as `kind` asks."""
    if not kind:
        return False
    pieces = value.split(":")
    if kind == "project":
        return all(piece in {"", UNKNOWN} or _is_own(piece, territory, cwds) for piece in pieces)
    return all(piece == UNKNOWN or _holds_tools(piece, territory, cwds) for piece in pieces)


def _is_own(text: str, territory: Territory, cwds: Directories) -> bool:
    location = territory.locate(text, cwds)
    return location.zone in {Zone.SAFE, Zone.PROJECT} and location.place is None


def _holds_tools(text: str, territory: Territory, cwds: Directories) -> bool:
    path = territory.locate(text, cwds).path
    if path in PROGRAM_DIRECTORIES or _SYSTEM_TOOLS.fullmatch(path):
        return True
    if territory.contains(path):
        return _PROJECT_TOOLS.fullmatch(path.removeprefix(f"{territory.project}/")) is not None
    home = f"{territory.home}/"
    return path.startswith(home) and _HOME_TOOLS.fullmatch(path.removeprefix(home)) is not None


def is_named_program(text: str) -> bool:
    """`bin/rails`, `manage.py`: a project's own copy, and not `src/ls`, which may be anything."""
    directory, name = posixpath.split(text)
    is_script = "." in name or name in {"artisan", "console", "configure", "gradlew", "mvnw"}
    return is_script or directory in {"", ".", "bin"} or directory.endswith(LOCAL_PROGRAMS)
