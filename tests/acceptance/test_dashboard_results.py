"""What was made in a worktree is seen, merged and thrown away in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.browser import MISSING, Browser, browsing
from tests.acceptance.scripted_engine import SESSION, ScriptedEngine
from tests.acceptance.test_dashboard import dashboard
from tests.acceptance.test_dashboard_changes import OWN
from tests.acceptance.test_results import STORY, evening, head, night, standing
from tests.repositories import git

pytestmark = [
    pytest.mark.skipif(MISSING, reason="there is no browser: apt-get install chromium"),
    pytest.mark.timeout(240),
]


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with browsing(tmp_path / "profile") as found:
        yield found


REVIEWED = (
    "✓ Check test -f made.py",
    "✗ Refused: Bash → git push --force",
    "Merges cleanly: the branch just moves along.",
    "A dark mode",
    "Not committed: notes.txt",
    "3 files, +3 −1",
    "+1 −1\napp.py",
)


@pytest.mark.claude
def test_a_night_in_a_worktree_is_seen_merged_and_cleared_away_in_the_browser(install, browser):
    pcc = install(STORY)
    evening(pcc)
    session, place = night(pcc, "dark", "--check", "test -f made.py")
    (place / "notes.txt").write_text("left over\n")
    before = standing(pcc.project)
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.press("dark")
        browser.press("Its worktree")
        browser.sees("Branch worktree-dark, into main")
        for line in REVIEWED:
            browser.sees(line)
        browser.press("Accept…")
        browser.sees("Not committed in")
        browser.sees(f"pcc accept {session} --commit")
        browser.press("Close")
        (place / "notes.txt").unlink()

        browser.press("Accept…")
        browser.sees("Merge worktree-dark into main")
        assert standing(pcc.project) == before, "nothing is done before it is said"
        browser.press("Merge 1 commit")
        browser.sees("Merged worktree-dark into main: 2 files, now ")
        browser.sees(f"reset --keep {before[1][:12]}")
        assert git(pcc.project, "log", "--format=%s") == "A dark mode\nA person's\n"
        assert (pcc.project / "app.py").read_text() == "dark\n"
        browser.sees("Nothing is there that the main working tree has not.")
        browser.press("Close")

        (place / "notes.txt").write_text("left over\n")
        browser.press("Discard…")
        browser.sees("All that is committed is merged.")
        browser.sees("Not committed: notes.txt")
        assert place.is_dir()
        (place / "later.txt").write_text("meanwhile\n")
        browser.press("Throw it away")
        browser.sees("it has changed since you looked")
        browser.press("Leave it")
        browser.press("Discard…")
        browser.sees("later.txt")
        browser.press("Throw it away")
        browser.sees(f"pcc undo {session} undo-1")
        assert not place.exists()
        assert git(pcc.project, "branch") == "* main\n"
        browser.sees("Merged worktree-dark into main")
        browser.sees("Thrown away: worktree-dark")
        assert browser.complaints() == []
    [began], [done] = pcc.events(session, "MergeBegan"), pcc.events(session, "MergeDone")
    assert (began["before"], done["after"]) == (before[1].strip(), head(pcc.project))
    assert [one["kept"] for one in pcc.events(session, "DiscardDone")] == ["undo-1"]
    assert "@" in done["by"]
    pcc.pcc("undo", session, "undo-1", "--yes")
    assert (place / "later.txt").read_text() == "meanwhile\n"


NAMES = ["<script>document.title='owned'</script>", "a\u202egpj.exe\x1b[31m"]
REVIEW = {
    "branch": "worktree-<b>x</b>\x1b[31m", "into": "main", "main": "/home/ana/shop",
    "place": "/home/ana/shop/.claude/worktrees/x", "merge": "conflicts",
    "commits": [{"id": "1a2b3c4", "subject": "<img src=x onerror=document.title='owned'>"}],
    "commits_total": 12, "not_committed": NAMES, "not_committed_total": 2, "left_out": [],
    "left_out_total": 0, "conflicts": NAMES, "conflicts_total": 2, "blocked": [],
    "blocked_total": 0, "total": 50_000, "added": 7, "removed": 0, "told": None,
    "files": [{"name": name, "added": 7, "removed": 0} for name in NAMES],
}  # fmt: skip
IN_ONE = {**SESSION, **OWN, "project": "/home/ana/shop/.claude/worktrees/x"}


@pytest.fixture
def engine(browser: Browser) -> Iterator[ScriptedEngine]:
    said = {"session.list": [IN_ONE], "session.get": IN_ONE, "result.review": REVIEW}
    found = ScriptedEngine(said)
    with found.bridged() as there:
        browser.size(390, 844)
        browser.open(there.link)
        browser.press("shop")
        browser.sees("What has changed")
        yield found


def test_hostile_names_are_text_and_fit_on_a_phone_and_git_is_asked_once(engine, browser):
    assert engine.counted("result.review") == 0
    browser.press("Its worktree")
    browser.sees("worktree-<b>x</b>\ufffd[31m")
    browser.sees("Conflicts in 2 files: <script>")
    browser.sees("a\ufffdgpj.exe\ufffd[31m")
    browser.sees("<img src=x")
    browser.sees("… and 49,998 files more")
    engine.said["result.plan"] = REVIEW | {"present": "p"}
    browser.press("Discard…")
    browser.sees("Throw it away")

    assert (
        browser.run("return document.querySelectorAll('#session :is(script, img, b)').length") == 0
    )
    assert browser.title == "PerpetualCC"
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    assert engine.counted("result.review") == 1
    assert engine.counted("result.discard") == 0
    assert ("result.plan", {"session": "s1", "discard": True}) in engine.asked
    assert browser.complaints() == []


@pytest.mark.usefixtures("engine")
def test_a_phone_that_may_not_work_sees_and_can_neither_take_nor_throw_away(browser):
    browser.run("document.body.dataset.scope = 'look'")
    browser.press("Its worktree")
    browser.sees("Conflicts in 2 files")
    assert "Accept…" not in browser.text
    assert "Discard…" not in browser.text


def test_outside_of_a_worktree_there_is_nothing_to_take(engine, browser):
    engine.said |= {"session.get": {**SESSION, **OWN}}
    browser.run("location.reload()")
    browser.sees("What has changed")
    assert "Its worktree" not in browser.text
