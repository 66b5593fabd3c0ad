"""
Completion in zsh: the library's script does nothing at the first TAB, and its installation turns on
the menu of every program's completion. What it does for the other shells stays.
"""

import importlib
import shlex
from pathlib import Path
from typing import Any

from perpetualcc.config import environment
from perpetualcc.domain.errors import PerpetualError

SCRIPT = """
#compdef %(prog_name)s

%(complete_func)s() {
  eval $(env _TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" %(autocomplete_var)s=complete_zsh %(prog_name)s)
}

if [[ ${funcstack[1]} == _%(prog_name)s ]]; then
  %(complete_func)s "$@"  # the first TAB has loaded this file as a function, and waits for it
else
  compdef %(complete_func)s %(prog_name)s
fi
"""  # noqa: E501  # a line of the shell's
_READ = "(( ${{+functions[compdef]}} )) || {{ autoload -Uz compinit; compinit }}; source {file}"
"""Whoever has completion already keeps it as it is: with its own cache, checks and styles."""


def use_our_zsh() -> None:
    """From now on, for `--show-completion` and `--install-completion`."""
    library: Any = importlib.import_module("typer._completion_shared")
    library._completion_scripts["zsh"] = SCRIPT  # noqa: SLF001  # it has no other place for it
    library.install_zsh = _install


def _install(*, prog_name: str, complete_var: str, shell: str) -> Path:
    """
    Write the script, and one line that reads it at the end of `.zshrc`, once.

    Raises PerpetualError, with the line, where another program keeps that file.
    """
    library: Any = importlib.import_module("typer._completion_shared")
    text = library.get_completion_script(
        prog_name=prog_name, complete_var=complete_var, shell=shell
    )
    script = Path.home() / ".zfunc" / f"_{prog_name}"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"{text}\n")
    settings = Path(environment().get("ZDOTDIR") or Path.home(), ".zshrc")
    before = settings.read_text(errors="surrogateescape") if settings.is_file() else ""
    line = _READ.format(file=shlex.quote(str(script)))
    if line in before:
        return script
    try:
        with settings.open("a") as file:
            file.write("\n" * (before[-1:] not in {"", "\n"}) + f"{line}\n")
    except OSError as error:
        told = f"'{settings}' cannot be written: {error.strerror}"
        raise PerpetualError(told, hint=f"Add this line where you keep it: {line}") from error
    return script
