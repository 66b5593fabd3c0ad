"""A guarded file by any of its names on a disk that ignores case, as it really is there."""

from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perpetualcc.domain.folders import canonical
from perpetualcc.domain.tools import ToolCall
from perpetualcc.permissions.risk_classifier import classify_risk
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.trust import WatchedFiles
from perpetualcc.sessions.beginnings import check_project

GUARDED = (
    ".env", ".git/hooks/pre-commit", ".git/config", ".claude/settings.json", ".mcp.json",
    ".perpetualcc/policy.toml", "keys/id_rsa", "../home/.ssh/config", "../home/.zshenv",
)  # fmt: skip
_numbers = count()


@pytest.fixture
def project(case_blind: Path) -> Path:
    """Beside the person's home; what is guarded is there."""
    world = case_blind / f"world{next(_numbers)}"
    (world / "home").mkdir(parents=True)
    place = world / "proj"
    (place / "src").mkdir(parents=True)
    for name in GUARDED:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("guarded")
    return canonical(place)


@given(name=st.sampled_from(GUARDED), flips=st.lists(st.booleans(), min_size=40, max_size=40))
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_guarded_file_is_never_low_by_any_name(project: Path, name: str, flips) -> None:
    flipped = zip(f"src/../{name}", flips, strict=False)
    spelled = "".join(c.swapcase() if flip else c for c, flip in flipped)
    home = PermissionSettings(home=project.parent / "home")

    assert (project / spelled).samefile(project / name)
    for tool, wanted in (("Write", "HIGH"), ("Edit", "HIGH")):
        for path in (spelled, str(project / spelled)):
            call = ToolCall(tool=tool, input={"file_path": path}, project=project)
            assert classify_risk(call, home).risk == wanted, path
    command = ToolCall(tool="Bash", input={"command": f"echo x > {spelled}"}, project=project)
    assert classify_risk(command, home).risk == "HIGH"


def test_what_is_in_the_project_is_so_by_any_name_of_the_project(project: Path) -> None:
    settings = PermissionSettings(home=project.parent / "home")
    other = project.with_name("PROJ")

    def risk(tool: str, **given: str) -> str:
        return classify_risk(ToolCall(tool=tool, input=given, project=project), settings).risk

    assert risk("Write", file_path=f"{other}/src/new.py") == "LOW"
    assert risk("Bash", command=f"cd {other} && make test") == "LOW"
    assert risk("Write", file_path=f"{other}/.env") == "HIGH"
    assert risk("Write", file_path=f"{other}/../else/new.py") != "LOW"


def test_a_link_is_followed_by_any_of_its_names(project: Path) -> None:
    (project / "src" / "Notes").symlink_to(project.parent / "home" / ".ssh")
    call = ToolCall(tool="Read", input={"file_path": "SRC/notes/CONFIG"}, project=project)

    risk = classify_risk(call, PermissionSettings(home=project.parent / "home")).risk

    assert risk == "HIGH"


def test_a_project_is_one_however_it_is_named(project: Path) -> None:
    spelled = [project, Path(str(project).upper()), project.parent / "PROJ"]
    spelled = [path for path in spelled if path.exists()]  # the way to the disk may know case

    assert len(spelled) > 1
    assert {check_project(path) for path in spelled} == {project}


def test_what_a_project_brings_is_seen_by_any_name(project: Path) -> None:
    (project / ".mcp.json").unlink()
    (project / ".claude" / "settings.json").unlink()
    (project / ".claude").rmdir()
    (project / ".MCP.json").write_text("{}")
    (project / ".Claude" / "Hooks").mkdir(parents=True)
    (project / ".Claude" / "Hooks" / "x.sh").write_text("true")

    files = WatchedFiles().read(project)

    assert set(files) == {".mcp.json", ".claude/hooks/x.sh", ".perpetualcc/policy.toml"}
