"""Our quick conversion and Typer's own agree on every value, and on what is refused."""

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import pytest
import typer
import typer.core

from perpetualcc.cli.plain_values import use_plain_values


class Colour(StrEnum):
    """For options with choices."""

    RED = "red"
    BLUE = "blue"


def command(taken: list[Any]) -> Any:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command()
    def paint(  # noqa: PLR0917  # one option of each kind
        text: str | None = None,
        count: int = 1,
        size: Annotated[float | None, typer.Option(min=0, max=9)] = None,
        level: Annotated[int, typer.Option(min=0, max=9, clamp=True)] = 3,
        path: Path | None = None,
        there: Annotated[Path | None, typer.Option(exists=True)] = None,
        colour: Colour = Colour.RED,
        tag: Annotated[list[str] | None, typer.Option()] = None,
        loud: Annotated[bool, typer.Option("--loud/--quiet")] = False,
    ) -> None:
        taken.append((text, count, size, level, path, there, colour, tag, loud))

    return cast("Any", typer.main.get_command(app))


@pytest.mark.parametrize(
    "words",
    [
        [], ["--text", ""], ["--text=ä"], ["--count", "7"], ["--count", "-7"], ["--count", " 7"],
        ["--count", "1_000"], ["--count", "7.0"], ["--count", "\u0667"],
        ["--count", "9" * 30], ["--size", "0.5"], ["--size", "9"], ["--size", "9.1"],
        ["--size", "-1"], ["--size", "nan"], ["--size", "inf"], ["--size", "1e0"],
        ["--level", "99"], ["--level", "4"], ["--path", "."], ["--path", "/no/such"],
        ["--path", "~"], ["--path", "-"], ["--there", "/no/such"], ["--there", "/"],
        ["--colour", "blue"], ["--colour", "BLUE"], ["--colour", "green"],
        ["--tag", "a", "--tag", "b"], ["--loud"], ["--quiet"], ["--nonsense"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_quick_and_thorough_conversion_agree(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parameter = typer.core._TyperParameter
    monkeypatch.setattr(parameter, "get_runtime_param", parameter.get_runtime_param)

    thorough = outcome(words)
    use_plain_values()
    quick = outcome(words)

    assert quick[0] == thorough[0]
    assert quick[1].partition(":")[0] == thorough[1].partition(":")[0]


def outcome(words: list[str]) -> tuple[list[str], str]:
    taken: list[Any] = []
    made = command(taken)
    try:
        made.main(args=words, standalone_mode=False)
    except Exception as error:  # noqa: BLE001  # whatever Typer raises, both must raise it
        return [], f"{type(error).__name__}: {error}"
    return [repr(value) for value in taken], ""


def test_a_command_with_options_runs_without_the_validation_library(tmp_path: Path) -> None:
    code = (
        "import sys; from perpetualcc.cli.main import app, run_alone\n"
        f"sys.argv = ['pcc', '--data-dir', {str(tmp_path)!r}, 'daemon', 'logs', '--tail', '5']\n"
        "try: run_alone(app, 'pcc')\n"
        "except SystemExit as end: assert not end.code\n"
        "print([name for name in ('pydantic', 'rich', 'asyncio') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--count", "seven"], "'seven' is no whole number"),
        (["--count", "0.5"], "'0.5' is no whole number"),
        (["--size", "much"], "'much' is no number"),
        (["--size", "-1"], "-1 is not 0 or more"),
        (["--size", "9.1"], "9.1 is not 9 or less"),
        (["--colour", "green"], "BadParameter: 'green' is not one of 'red', 'blue'"),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(
    words: list[str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameter = typer.core._TyperParameter
    monkeypatch.setattr(parameter, "get_runtime_param", parameter.get_runtime_param)
    use_plain_values()

    assert says in outcome(words)[1]
