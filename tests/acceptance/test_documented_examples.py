"""What the pages show as typed and printed is typed here, and prints that."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
NOTES = ROOT / "src/perpetualcc/rehearsal/scenarios/question.yaml"

ANY = re.compile(
    r"""
      \b[0-9a-f]{6}\b                   # the id of a session or a rule
    | \d\d:\d\d:\d\d
    | \b\d+s\ ago
    | '[^']*@[^']*'                     # who answered
    """,
    re.VERBOSE,
)


def blocks(page: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def typed(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a block, and what the page shows below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def without_what_differs(text: str) -> str:
    """
    Times, ids and who it was; a table is as wide as what is in it, and lines end in nothing. A busy
    machine says that it waits.
    """
    told = text.replace("Waiting for the daemon …\n", "")
    same = re.sub(r" +│", " │", re.sub(r"[ ─]{2,}", "  ", ANY.sub("…", told)))
    return "\n".join(line.rstrip() for line in same.strip().splitlines())


class Shell:
    """Types into a shell that has `pcc`, in a folder of its own."""

    def __init__(self, pcc, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._variables = dict(pcc.environment) | {"PATH": f"{BIN}:{pcc.environment['PATH']}"}
        self._data = f" --data-dir {pcc.locations.data}"
        self._prelude = f'pcc() {{ command pcc{self._data} "$@"; }}\n'

    def run(self, command: str) -> str:
        done = subprocess.run(
            ["/bin/bash", "-c", self._prelude + command],
            cwd=self.folder,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=50,
        )
        told = done.stdout.replace(self._data, "")
        return told.replace(str(self.folder), f"/tmp/{self.folder.name}")

    def prints_what_is_shown(self, page: str, *beginnings: str) -> None:
        """Blocks whose first command begins so; each must be there."""
        found = set()
        for block in blocks(page):
            commands = list(typed(block))
            begins = [one for one in beginnings if commands and commands[0][0].startswith(one)]
            if not begins:
                continue
            found.update(begins)
            for command, shown in commands:
                printed = self.run(command)
                assert without_what_differs(printed) == without_what_differs(shown), command
        assert found == set(beginnings)


@pytest.fixture
def shell(install, tmp_path):
    return Shell(install("steps: [Done.]"), tmp_path / "shop")


def requirements() -> str:
    [example] = [block for block in blocks("requirements.md") if block.startswith("# Project")]
    return example


def test_what_a_brain_answers(shell):
    (shell.folder / "shop.md").write_text(requirements())
    [asked] = [block for block in blocks("brains.md") if "questions.jsonl" in block]
    [lines] = [shown for command, shown in typed(asked) if command.startswith("cat ")]
    (shell.folder / "questions.jsonl").write_text(lines)

    shell.prints_what_is_shown("brains.md", "pcc brain ask", "cat questions.jsonl")


def test_how_a_call_is_judged(shell):
    shell.prints_what_is_shown("permissions.md", "pcc explain", "pcc rules add")


def test_a_setting(shell):
    [block] = [block for block in blocks("configuration.md") if "config set" in block]
    [(change, said), (show, _)] = typed(block)

    assert shell.run(change) == said
    assert "sessions.max_concurrent = 8   # default: 5\n" in shell.run(show)


def test_a_scenario_that_is_checked(shell):
    [story] = [block for block in blocks("rehearsal.md") if block.startswith("name: hello")]
    right, wrong = [block for block in blocks("rehearsal.md") if "hello.yaml --check" in block]
    for block, text in ((right, story), (wrong, story.replace("say", "sya"))):
        (shell.folder / "hello.yaml").write_text(text)
        [(command, shown)] = typed(block)
        assert shell.run(command) == shown


def test_requirements_that_wait_for_nothing(shell):
    [error] = [block for block in blocks("requirements.md") if block.startswith("error: plan.md")]
    (shell.folder / "plan.md").write_text("## Tasks\n- One\n- Two (after: 7)\n- Three\n")

    assert shell.run("pcc init . --requirements plan.md") == error


def test_a_person_answers_what_waits(install, tmp_path):
    story = NOTES.read_text(encoding="utf-8")
    story = story.replace("One file, no server", "One file").replace(", for several machines", "")
    pcc = install(story)
    session = pcc.start("Add a place to store notes")
    pcc.wait(session, "WAITING_INPUT")

    Shell(pcc, tmp_path / "shop").prints_what_is_shown("people.md", "pcc pending")
    pcc.wait(session)
