"""A project's memory on disk: damaged, full, read-only, or somebody else's."""

import subprocess
from pathlib import Path

import pytest

from perpetualcc.learning.memory_file import MemoryFile
from perpetualcc.learning.process import typed_rule
from tests.fakes.preferences import preference


def test_the_same_event_counts_once(library, project):
    for _ in range(3):
        library.remember(project, preference(), event="same")

    assert library.all(project)[0].preference.seen == 1


def test_a_damaged_memory_is_read_from_its_backup(library, project, places):
    library.remember(project, preference(), event="1")
    library.remember(project, preference("Never mock the database"), event="2")
    places.memory(project).write_text('{"version": 1, "pref')

    assert [one.preference.rule for one in library.all(project)] == ["Use pnpm, not npm"]


def test_an_accepted_rule_is_one_also_when_it_comes_from_the_backup(library, project, places):
    typed_rule(library, project, "Use tabs", by_person=True)
    places.memory(project).write_text("<<<<<<< HEAD\n")

    assert [one.rule for one in library.in_force(project)] == ["Use tabs"]


@pytest.mark.parametrize(
    ("text", "is_damaged"),
    [
        ("<<<<<<< HEAD\n", True),
        ('{"version": 1,', True),
        ('{"version": 1, "preferences": 3}', True),
        ('{"version": 2, "preferences": []}', False),
        ('{"entities": []}', False),
        ('{"version": 1, "preferences": [], "events": []}', False),
    ],
)
def test_a_memory_that_nobody_can_read_is_named(library, project, places, text, is_damaged):
    places.memory(project).parent.mkdir()
    places.memory(project).write_text(text)

    assert library.damaged(project) == [places.memory(project)] * is_damaged


def test_what_was_forgotten_is_in_no_file_any_more(library, project):
    library.remember(project, preference("Deploy to the secret host"), event="1")
    library.remember(project, preference(), event="2")

    library.forget(library.all(project)[0])

    files = [path.read_text() for path in (Path(project) / ".data").iterdir()]
    assert "secret host" not in "".join(files)
    assert len(library.all(project)) == 1


def test_a_project_that_cannot_hold_it_has_its_memory_with_us(library, places, tmp_path):
    gone = str(tmp_path / "gone")

    library.remember(gone, preference(), event="1")

    assert len(library.all(gone)) == 1
    assert places.stand_in(gone).exists()
    assert not (tmp_path / "gone").exists()


def test_a_link_out_of_the_project_is_not_followed(library, project, places, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (places.memory(project).parent).symlink_to(elsewhere)

    library.remember(project, preference(), event="1")

    assert list(elsewhere.iterdir()) == []


def test_a_data_directory_that_we_made_ignores_itself(library, project):
    subprocess.run(["git", "init", "-q", project], check=True)

    library.remember(project, preference(), event="1")

    shown = subprocess.run(
        ["git", "-C", project, "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    assert (Path(project) / ".data" / "memory.json").exists()
    assert shown.stdout == ""
    assert [path.name for path in Path(project).iterdir() if path.name != ".git"] == [".data"]


@pytest.mark.parametrize("theirs", [(), ("data.csv",), (".gitignore",)])
def test_a_data_directory_that_was_there_stays_as_it_is(library, project, theirs):
    directory = Path(project) / ".data"
    directory.mkdir()
    for name in theirs:
        (directory / name).write_text("mine")

    library.remember(project, preference(), event="1")

    ours = {"memory.json", "memory.lock"}
    assert {path.name for path in directory.iterdir()} == ours | set(theirs)
    assert all((directory / name).read_text() == "mine" for name in theirs)


def theirs(data, kind):
    """Something that stands where a project's memory would be, and its one file."""
    if kind == "a file in place of the directory":
        data.write_text("theirs")
        return data
    data.mkdir()
    memory = data / "memory.json"
    match kind:
        case "a directory":
            memory.mkdir()
            memory = memory / "x"
            memory.write_text("theirs")
        case "another program's":
            memory.write_text('{"entities": []}')
        case "a newer version's":
            memory.write_text('{"version": 2, "preferences": [], "events": []}')
        case "damaged":
            memory.write_text('{"version": 1,')
        case _:
            memory = data.parent / "tool.sh"
            memory.write_text("theirs")
            memory.chmod(0o755)
            (data / kind).symlink_to(memory)
    return memory


@pytest.mark.parametrize(
    "kind",
    [
        "a file in place of the directory", "a directory", "another program's",
        "a newer version's", "damaged", "memory.lock", "memory.json.backup", "memory.json",
    ],
)  # fmt: skip
def test_what_stands_in_the_memorys_place_is_left_alone(library, project, places, kind):
    found = theirs(places.memory(project).parent, kind)
    before = (found.read_bytes(), found.stat().st_mode)

    library.remember(project, preference(), event="1")

    assert (found.read_bytes(), found.stat().st_mode) == before
    assert [one.preference.rule for one in library.all(project)] == ["Use pnpm, not npm"]


def test_a_disk_that_fills_costs_no_rule_and_none_is_doubled(library, project, places, monkeypatch):
    typed_rule(library, project, "Use tabs", by_person=True)

    def full(self, memory):
        if self.path == places.memory(project):
            raise OSError(28, "No space left on device")
        return save(self, memory)

    save = MemoryFile._save  # what a full disk refuses
    with monkeypatch.context() as patch:
        patch.setattr(MemoryFile, "_save", full)
        library.remember(project, preference(), event="1")
        on_the_full_disk = [one.preference.rule for one in library.all(project)]
    library.remember(project, preference(), event="1")

    assert on_the_full_disk == ["Use tabs", "Use pnpm, not npm"]
    assert [one.preference.rule for one in library.all(project)] == on_the_full_disk
    assert [one.rule for one in MemoryFile(places.memory(project)).load().preferences] == [
        "Use tabs",
        "Use pnpm, not npm",
    ]
    assert not places.stand_in(project).exists()
    assert "Use tabs" in places.block(project).read_text()


def test_a_project_that_can_only_be_read_keeps_its_rules(library, project, places, monkeypatch):
    typed_rule(library, project, "Use tabs", by_person=True)

    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda path, _mode: not str(path).startswith(project))
        read = [one.preference.rule for one in library.all(project)]
        typed_rule(library, project, "Never use npm", by_person=True)
        before = places.memory(project).read_text()

    assert read == ["Use tabs"]
    assert "npm" not in before
    assert [one.rule for one in library.in_force(project)] == ["Use tabs", "Never use npm"]


def test_a_global_memory_that_nobody_can_read_is_not_written_over(library, places):
    places.everywhere.write_text('{"version": 2, "preferences": ["of a newer version"]}')

    library.remember("", preference(scope="global"), event="1")

    unreadable = places.everywhere.with_name("memory.json.unreadable")
    assert "of a newer version" in unreadable.read_text()
