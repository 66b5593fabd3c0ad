"""How much room there is, and when somebody is told."""

import asyncio
import errno
import os
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from perpetualcc.daemon.disk import DiskSpace, DiskUse, Room, disk_space, disk_use, remedy
from perpetualcc.daemon.disk_watch import watch_disk
from perpetualcc.domain.errors import PerpetualError

GB, MB = 1_000_000_000, 1_000_000


@pytest.mark.parametrize(
    ("free", "total", "room"),
    [
        (100 * GB, 200 * GB, Room.ENOUGH),
        (500 * MB, 200 * GB, Room.ENOUGH),
        (499 * MB, 200 * GB, Room.NEARLY_FULL),
        (20 * MB, 200 * GB, Room.NEARLY_FULL),
        (19 * MB, 200 * GB, Room.FULL),
        (0, 200 * GB, Room.FULL),
        (300 * MB, 400 * MB, Room.ENOUGH),
        (39 * MB, 400 * MB, Room.NEARLY_FULL),
        (0, 0, Room.FULL),
    ],
)
def test_a_disk_is_judged_by_what_is_left(free, total, room):
    assert DiskSpace(free=free, total=total).room is room


def test_a_disk_that_can_hold_no_more_files_is_full():
    space = DiskSpace(free=100 * GB, total=200 * GB, files_left=False)

    assert space.described() == "full: no more files can be made"


def test_a_disk_that_can_only_be_read_is_spent_however_much_is_left(tmp_path, monkeypatch):
    """ext4 refuses to write after an error without saying so in its flags."""

    def refused(*_args, **_options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "utime", refused)

    space = disk_space(tmp_path)

    assert (space.room, space.is_spent) == (Room.READ_ONLY, True)
    assert space.described() == "read-only: nothing can be written"
    assert "for writing" in remedy(space, tmp_path)


def test_a_look_at_a_disk_changes_nothing(tmp_path):
    os.utime(tmp_path, ns=(1_000_000_007, 2_000_000_009))

    disk_space(tmp_path)

    found = tmp_path.stat()
    assert (found.st_atime_ns, found.st_mtime_ns) == (1_000_000_007, 2_000_000_009)


def test_a_directory_that_is_not_there_yet_is_judged_where_it_will_be(tmp_path):
    here, later = disk_space(tmp_path), disk_space(tmp_path / "not" / "yet")

    assert here.total == later.total > 0


class NoMoreLooksError(Exception):
    """The story of the disk is over."""


def told_of(*sizes: int, broken: int = 0) -> list[Room]:
    """What is told while so many bytes are found free; the first few tellings do not work."""
    left, told, failing = list(sizes), [], [broken]

    def look(_place):
        if not left:
            raise NoMoreLooksError
        return DiskSpace(free=left.pop(0), total=200 * GB)

    async def tell(space: DiskSpace) -> None:
        if failing[0]:
            failing[0] -= 1
            raise PerpetualError("no room for it")
        told.append(space.room)

    with pytest.raises(NoMoreLooksError):
        asyncio.run(watch_disk(Path(), tell, every=timedelta(), look=look))
    return told


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ([GB, GB], []),
        ([GB, 300 * MB, 300 * MB, 200 * MB], [Room.NEARLY_FULL]),
        ([GB, 300 * MB, 5 * MB, 5 * MB], [Room.NEARLY_FULL, Room.FULL]),
        ([5 * MB, 300 * MB, 5 * MB], [Room.FULL, Room.FULL]),
        ([5 * MB, 300 * MB, 300 * MB], [Room.FULL]),
        ([300 * MB, GB, 300 * MB], [Room.NEARLY_FULL, Room.NEARLY_FULL]),
    ],
)
def test_people_are_told_once_when_it_gets_worse(sizes, told):
    assert told_of(*sizes) == told


def test_what_could_not_be_told_is_told_at_the_next_look():
    assert told_of(5 * MB, 5 * MB, 5 * MB, 5 * MB, broken=2) == [Room.FULL]


def test_a_disk_that_cannot_be_looked_at_is_nobodys_trouble():
    looked = iter([None])

    def look(_place):
        try:
            return next(looked)
        except StopIteration:
            raise NoMoreLooksError from None

    async def tell(_space) -> None:
        raise AssertionError("there is nothing to tell")

    with pytest.raises(NoMoreLooksError):
        asyncio.run(watch_disk(Path(), tell, every=timedelta(), look=look))


@pytest.mark.parametrize(
    ("files", "available", "left"), [(1000, 5, True), (1000, 0, False), (0, 0, True)]
)
def test_a_file_system_that_counts_no_files_has_room_for_them(
    tmp_path, monkeypatch, files, available, left
):
    counted = SimpleNamespace(
        f_bavail=9, f_frsize=GB, f_blocks=10, f_files=files, f_favail=available
    )
    monkeypatch.setattr(os, "statvfs", lambda _: counted)

    assert disk_space(tmp_path) == DiskSpace(free=9 * GB, total=10 * GB, files_left=left)


def test_what_we_keep_is_counted_by_what_it_is(tmp_path):
    for name, size in {
        "perpetualcc.db": 3_000_000,
        "perpetualcc.db-wal": 2_000_000,
        "checkpoints/deep/one.json": 2_000_000,
        "logs/engine.log": 4_096,
        "stray": 4_096,
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * size)
    (tmp_path / "logs" / "link").symlink_to(tmp_path / "perpetualcc.db")

    used = disk_use(tmp_path)

    assert list(used.parts)[:2] == ["history", "checkpoints"]
    assert used.parts["history"] == pytest.approx(5_000_000, rel=0.01)
    assert used.parts["logs"] < 20_000
    assert used.parts["other"] < 20_000
    assert used.described() == "7 MB: history 5 MB, checkpoints 2 MB"
    assert disk_use(tmp_path / "not yet") == DiskUse(parts={})
