"""`.claude-handover/`: atomic, kept, and never a way out of the project."""

import errno
import os
from pathlib import Path

import pytest

from perpetualcc.domain.errors import NoRoomError, PerpetualError
from perpetualcc.domain.tools import ToolCall
from perpetualcc.sessions.handover.folder import DOCUMENT, HandoverFolder, is_handover_file


def folder_of(project: Path) -> HandoverFolder:
    folder = HandoverFolder(project)
    folder.prepare()
    return folder


def test_files_are_written_read_and_archived(tmp_path):
    folder = folder_of(tmp_path)

    folder.write(DOCUMENT, "one")
    folder.archive("1", {DOCUMENT: "one"})
    folder.archive("1", {DOCUMENT: "again"})

    assert folder.read(DOCUMENT) == "one"
    assert (folder.path / "archive" / "1" / DOCUMENT).read_text() == "again"
    folder.remove(".gitignore")  # a person made the folder, for a trigger
    folder.archive("2", {DOCUMENT: "two"})
    assert folder.read(".gitignore") == "*\n"
    assert (folder.path / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in folder.path.iterdir()) == [
        ".gitignore",
        "archive",
        DOCUMENT,
    ]


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
def test_the_trigger_is_seen_once(make, tmp_path):
    folder = folder_of(tmp_path)
    make(folder.trigger)

    assert [folder.take_trigger(), folder.take_trigger()] == [True, False]


def test_a_link_in_the_place_of_a_file_is_replaced_and_never_followed(tmp_path):
    folder = folder_of(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (folder.path / DOCUMENT).symlink_to(secret)

    assert folder.read(DOCUMENT) is None
    folder.write(DOCUMENT, "mine")

    assert (secret.read_text(), folder.read(DOCUMENT)) == ("secret", "mine")


@pytest.mark.parametrize("name", ["folder", "archive"])
def test_a_link_in_the_place_of_a_directory_is_refused(tmp_path, name):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = HandoverFolder(tmp_path)
    if name == "folder":
        folder.path.symlink_to(elsewhere)
    else:
        folder.prepare()
        (folder.path / "archive").symlink_to(elsewhere)

    with pytest.raises(PerpetualError) as caught:
        folder.archive("1", {DOCUMENT: "one"})

    assert caught.value.hint
    assert list(elsewhere.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_read_only_says_so(tmp_path):
    folder = folder_of(tmp_path)
    folder.path.chmod(0o500)

    with pytest.raises(PerpetualError, match="cannot be used: Permission denied"):
        folder.write(DOCUMENT, "one")


def test_fifos_huge_and_binary_files_are_not_read(tmp_path):
    folder = folder_of(tmp_path)
    os.mkfifo(folder.path / "fifo")
    (folder.path / "huge").write_bytes(b"x" * 300_000)
    (folder.path / "binary").write_bytes(b"\xff\xfe\x00")

    assert [folder.read(name) for name in ("fifo", "huge", "binary", "none")] == [None] * 4


@pytest.mark.parametrize(
    ("tool", "path", "allowed"),
    [
        ("Write", ".claude-handover/handover.md", True),
        ("Edit", ".claude-handover/handover.md", True),
        ("Write", ".claude-handover/trigger.flag", True),
        ("Read", ".claude-handover/status.txt", True),
        ("Write", ".claude-handover/status.txt", False),
        ("Write", ".claude-handover/.gitignore", False),
        ("Write", ".claude-handover/archive/1/handover.md", False),
        ("Write", "other/.claude-handover/handover.md", False),
        ("Write", ".claude-handover/../handover.md", False),
        ("Write", "handover.md", False),
        ("Bash", ".claude-handover/handover.md", False),
    ],
)
def test_only_the_documents_own_files_are_let_through(tmp_path, tool, path, allowed):
    folder_of(tmp_path)

    for named in (path, str(tmp_path / path)):
        call = ToolCall(tool=tool, input={"file_path": named}, project=tmp_path)
        assert is_handover_file(call) is allowed


def test_a_link_is_not_let_through(tmp_path):
    folder = folder_of(tmp_path)
    (folder.path / DOCUMENT).symlink_to(tmp_path / "elsewhere")
    path = str(folder.path / DOCUMENT)

    assert not is_handover_file(ToolCall(tool="Write", input={"file_path": path}, project=tmp_path))


def test_what_is_in_the_way_of_a_file_is_named(tmp_path):
    folder = folder_of(tmp_path)
    (folder.path / DOCUMENT).mkdir()

    with pytest.raises(PerpetualError, match="Is a directory") as found:
        folder.write(DOCUMENT, "x")

    assert (found.value.hint or "").endswith(f"ls -ld {folder.document}")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_made_sends_a_person_to_the_project(tmp_path, monkeypatch, number):
    def shut(path, *_args, **_named):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "mkdir", shut)
    with pytest.raises(PerpetualError, match=os.strerror(number)) as found:
        HandoverFolder(tmp_path).prepare()

    assert f"ls -ld {tmp_path};" in (found.value.hint or "")
    assert isinstance(found.value, NoRoomError) == (number == errno.EROFS)


def test_a_full_disk_is_not_mended_by_removing_the_folder(tmp_path, monkeypatch):
    folder = folder_of(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PerpetualError, match="No space left") as found:
        folder.write(DOCUMENT, "x")

    assert "Make room" in (found.value.hint or "")
