"""What a page is shown of a snapshot: whole where it is small, cut where it is not, never more."""

import asyncio
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from perpetualcc.daemon import snapshot_looks as looks
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.sessions.snapshots.repository import GitError
from tests.unit.daemon.test_limits import task
from tests.unit.daemon.test_snapshots import World, world

KEY = "sk-ant-api03-" + "aB3dE5gH" * 5


def play(tmp_path, scene, change) -> None:
    """A snapshot is taken; `change` happens to the project; then the scene."""

    async def played():
        async with world(tmp_path) as here:
            await here.keeper().before(replace(task("t-1"), group=here.session.id), here.session)
            change(here.session.project)
            [since] = await here.store.of_session(here.session.id)
            await scene(here, since)

    asyncio.run(played())


async def look(here: World, work, since, until=None, *, seconds: float = 60.0):
    return await here.keeper().looked(work, since, until, seconds)


async def patches(here: World, since, most: int = 9) -> dict[str, dict]:
    told = await look(here, looks.changes_of, since)
    return {
        one["name"]: await look(here, lambda at, one=one: looks.patch_of(at, one["id"]), since)
        for one in told["files"][:most]
    }


def test_files_are_counted_and_each_has_its_patch(tmp_path):
    def change(project: Path) -> None:
        (project / "app.py").write_text("mine\nand theirs\n")
        (project / "new.py").write_text("-- a heading\n++ another\n")
        (project / "tool.bin").write_bytes(b"\0\1\2")

    async def scene(here, since):
        told = await look(here, looks.changes_of, since)
        found = await patches(here, since)

        assert [(one["name"], one["added"], one["removed"]) for one in told["files"]] == [
            ("app.py", 1, 0),
            ("new.py", 2, 0),
            ("tool.bin", None, None),
        ]
        assert (told["total"], told["added"], told["removed"]) == (3, 3, 0)
        assert found["app.py"]["text"] == "@@ -1 +1,2 @@\n mine\n+and theirs"
        assert found["new.py"]["text"] == (
            "new file mode 100644\n@@ -0,0 +1,2 @@\n+-- a heading\n+++ another"
        )
        assert "Binary files" in found["tool.bin"]["text"]
        assert not any(one["is_cut"] for one in found.values())
        assert not list(here.folder.iterdir()), "nothing of a look stays"

    play(tmp_path, scene, change)


def test_huge_ones_are_cut_and_git_is_ended_there(tmp_path):
    def change(project: Path) -> None:
        (project / "huge.txt").write_text("".join(f"line {n}\n" for n in range(200_000)))
        (project / "one-line.js").write_text("x" * 5_000_000)
        (project / "wide.txt").write_text("y" * 3_000 + "\n")
        for number in range(looks.FILES):
            (project / f"z{number}").write_text("z\n")

    async def scene(here, since):
        told = await look(here, looks.changes_of, since)
        found = await patches(here, since)

        assert len(told["files"]) == looks.FILES
        assert told["total"] == looks.FILES + 3
        assert found["huge.txt"]["text"].count("\n") == 1_999
        assert found["huge.txt"]["is_cut"]
        assert found["one-line.js"]["text"] == "new file mode 100644\n@@ -0,0 +1 @@"
        assert found["one-line.js"]["is_cut"]
        assert max(map(len, found["wide.txt"]["text"].split("\n"))) == 1_000
        assert found["wide.txt"]["is_cut"]

    # Of the 300 others two are looked at.
    play(tmp_path, scene, change)


def test_names_that_are_no_text_are_found_and_secrets_are_not_shown(tmp_path):
    odd = os.fsdecode(b"caf\xe9\n<script>\x1b[31m")

    def change(project: Path) -> None:
        (project / odd).write_text("odd\n")
        (project / "settings.py").write_text(f'KEY = "{KEY}"\n')

    async def scene(here, since):
        found = await patches(here, since)

        assert found["caf\ufffd\n<script>\x1b[31m"]["text"].endswith("+odd")
        assert KEY not in found["settings.py"]["text"]
        assert "[redacted]" in found["settings.py"]["text"]

    play(tmp_path, scene, change)


@pytest.mark.parametrize("given", ["", "../../etc/passwd", "app.py", "--output=/tmp/x"])
def test_what_names_no_file_that_differs_reaches_no_git(tmp_path, given):
    async def scene(here, since):
        with pytest.raises(PerpetualError, match="does not differ any more"):
            await look(here, lambda at: looks.patch_of(at, given), since)

    play(tmp_path, scene, lambda project: (project / "app.py").write_text("theirs\n"))


def test_only_what_was_shown_is_put_back(tmp_path):
    def change(project: Path) -> None:
        (project / "app.py").write_text("theirs\n")
        (project / "new.py").write_text("new\n")

    async def scene(here, since):
        keeper, project = here.keeper(), here.session.project
        planned = await look(here, looks.plan_of, since)
        (project / "late.py").write_text("late\n")
        kept = await keeper.before_undo(here.session, since, by="ana")

        def back_to(kept, present):
            return lambda at: looks.put_back(at, kept.commit, present, lock)

        with pytest.raises(GitError, match="changed since you looked"):
            await look(here, back_to(kept, planned["present"]), since)
        assert (project / "app.py").read_text() == "theirs\n"
        with pytest.raises(GitError, match="changed meanwhile"):
            await look(here, back_to(since, planned["present"]), since)

        planned = await look(here, looks.plan_of, since)
        done = await look(here, back_to(kept, planned["present"]), since)

        assert {one["name"]: one["change"] for one in planned["files"]} == {
            "app.py": "changed",
            "late.py": "deleted",
            "new.py": "deleted",
        }
        assert done == 3
        assert (project / "app.py").read_text() == "mine\n"
        assert not (project / "new.py").exists()
        back = await look(here, looks.plan_of, kept)
        await look(here, back_to(since, back["present"]), kept)
        assert (project / "late.py").read_text() == "late\n"

    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    play(tmp_path, scene, change)
    os.close(lock)


def test_what_a_crash_left_of_a_look_goes_within_a_day_and_one_at_work_stays(tmp_path):
    async def scene(here, _):
        left, at_work = here.folder / "look-left", here.folder / "look-at-work"
        for one in (left, at_work):
            (one / "objects").mkdir(parents=True)
        os.utime(at_work, (here.clock.now(), here.clock.now()))

        await here.keeper(keep=timedelta()).forget_old()

        assert not left.exists()
        assert at_work.exists()

    play(tmp_path, scene, lambda _: None)


def test_git_that_takes_too_long_is_ended(tmp_path):
    async def scene(here, since):
        shown = ("cat-file", "commit", since.commit)
        with pytest.raises(GitError, match="takes longer than"):
            await look(
                here, lambda at: at.repository.beginning(*shown, most=9), since, seconds=-1.0
            )

    play(tmp_path, scene, lambda _: None)
