"""What the documentation says is what the code has."""

import json
import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import get_args

import pytest

from perpetualcc.cli.commands import COMMANDS
from perpetualcc.config import file as config
from perpetualcc.domain.events import EVENT_TYPES, RunEnded
from perpetualcc.domain.tasks import Outcome
from tools import architecture, configuration_reference, protocol_reference
from tools.documented import ROOT, documents

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCE = ROOT / "src" / "perpetualcc"


@pytest.mark.parametrize("page", documents(), ids=lambda page: page.name)
def test_a_generated_page_agrees_with_the_code(page: Path) -> None:
    assert page.read_text() == documents()[page], "type: make docs"


def test_the_rings_of_the_architecture_are_those_of_the_contract() -> None:
    rows = re.findall(
        r"^\| (\d) \| `(\w+)", (ROOT / "ARCHITECTURE.md").read_text(), flags=re.MULTILINE
    )
    place = {name: n for n, ring in enumerate(architecture.rings(ROOT), start=1) for name in ring}

    assert {name: int(ring) for ring, name in rows}.items() <= place.items()
    assert [int(ring) for ring, _ in rows] == sorted(int(ring) for ring, _ in rows)
    assert {name for _, name in rows} == {
        path.stem for path in SOURCE.iterdir() if path.suffix in {"", ".py"} and path.stem[0] != "_"
    }


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"])
def test_a_file_that_a_page_names_exists(page: str) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    named = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", text)

    missing = [path for path in linked if not (ROOT / path).exists()]
    missing += [path for path in named if not (ROOT / path).exists() | (SOURCE / path).exists()]
    assert missing == []


def test_no_page_takes_an_extra_from_whatever_index_has_our_name() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *SOURCE.rglob("*.py")]

    bare = [
        page.name for page in pages if re.search(r"(?<!-m )pip install '?perp", page.read_text())
    ]
    assert bare == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()

    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    assert [str(page) for page in pages if f"({page})" not in index] == ["README.md"]


def dependencies() -> list[str]:
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    found = [
        *project["dependencies"],
        *(one for extra in project["optional-dependencies"].values() for one in extra),
        *(one for group in groups.values() for one in group if isinstance(one, str)),
        *PROJECT["build-system"]["requires"],
    ]
    return sorted({re.split(r"[\[<>=!~ ;]", one)[0].lower() for one in found})


@pytest.mark.parametrize("name", dependencies())
def test_every_dependency_has_its_reason_licence_and_size(name: str) -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()

    row = rf"^\| {re.escape(name)} \| .+ \| .+ \| [\d.]+ mb \|$"
    assert re.search(row, page, re.MULTILINE), "add a row: name, reason, licence, size"


def test_what_is_installed_is_pinned_so_that_it_is_the_same_tomorrow() -> None:
    constraints = (ROOT / "constraints.txt").read_text().split()
    wanted, known = [canonical(name) for name in dependencies()], set[str]()
    installed = {canonical(one.name): one for one in metadata.distributions()}

    while wanted:
        name = wanted.pop()
        if name in installed and name not in known:
            required = [one for one in installed[name].requires or [] if "extra ==" not in one]
            wanted += [canonical(re.split(r"[^\w.-]", one)[0]) for one in required]
            known.add(name)

    assert len(known) > 50
    assert [f"{one}=={installed[one].version}" for one in known - pinned(constraints)] == []


def pinned(constraints: list[str]) -> set[str]:
    return {canonical(line.partition("==")[0]) for line in constraints}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_setting_says_what_it_is_for() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()

    for name, _, _ in config.settings():
        section, _, key = name.rpartition(".")
        own = page.partition(f"## `[{section}]`")[2].partition("\n## ")[0]
        assert re.search(rf"^\| `{key}` \| .+ \| .+ \| \S.+ \|$", own, re.MULTILINE), name


def test_a_page_that_lists_a_section_has_each_key_with_its_default() -> None:
    page = (ROOT / "docs" / "permissions.md").read_text()
    own = page.partition("| `[permissions]` | default |")[2].partition("\n\n")[0]

    listed = re.findall(r"^\| `(\w+)` \| `(.+?)` \|", own, re.MULTILINE)
    assert {key: default.replace("\\|", "|") for key, default in listed} == {
        name.rpartition(".")[2]: json.dumps(default)
        for name, _, default in config.settings()
        if name.startswith("permissions.")
    }


def test_every_method_event_and_command_says_what_it_is_for() -> None:
    protocol = (ROOT / "docs" / "protocol.md").read_text()
    commands = (ROOT / "docs" / "cli.md").read_text()

    empty = re.findall(r"^\| `[^|]+\|[^|]*\|\s*\|$", protocol, re.MULTILINE)
    assert empty == [], "each method has a docstring"
    assert [name for name in EVENT_TYPES if f"| `{name}` |" not in protocol] == []
    assert [name for name in COMMANDS if f"### `pcc {name}`" not in commands] == []


def test_an_error_code_is_called_reserved_when_nothing_sends_it() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text()
    told = re.findall(r"^\| -\d+ \| (\w+) \| (.+) \|$", page, re.MULTILINE)

    sent = {
        code
        for page in SOURCE.rglob("*.py")
        for code in re.findall(r"ErrorCode\.([A-Z_]+)", page.read_text())
    }
    assert {code for code, meaning in told if not meaning.startswith("Reserved")} == sent


def test_every_end_of_a_run_is_named() -> None:
    told = configuration_reference.field_docs(RunEnded)["outcome"]

    ends = {kind.__name__.lower() for kind in get_args(Outcome)} | {"interrupted"}
    assert ends == set(re.findall(r"\w+", told.partition(": ")[2])) & ends


def test_the_methods_are_read_without_starting_an_engine() -> None:
    assert "| `session.start` | `project`: text" in protocol_reference.page()


def test_a_setting_is_documented_by_the_string_under_its_field() -> None:
    told = configuration_reference.field_docs(config.ClaudeSettings)

    assert told["model"] == "Model that Claude Code uses; empty: its own default."
