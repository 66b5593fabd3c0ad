"""What a night changed, and the way back, as a person sees and does it in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.browser import MISSING, Browser, browsing
from tests.acceptance.scripted_engine import SESSION, ScriptedEngine
from tests.acceptance.supervised import wait_until
from tests.acceptance.test_dashboard import dashboard
from tests.acceptance.test_snapshots import STORY, evening, files

pytestmark = [
    pytest.mark.skipif(MISSING, reason="there is no browser: apt-get install chromium"),
    pytest.mark.timeout(180),
]


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with browsing(tmp_path / "profile") as found:
        yield found


@pytest.mark.claude
def test_a_night_is_seen_taken_back_and_brought_again_in_the_browser(install, browser):
    pcc = install(STORY)
    before = evening(pcc)
    session = pcc.start("first", "--session-name", "shop")
    pcc.wait(session)
    pcc.pcc("add", session, "second")
    wait_until((pcc.project / "late.py").exists)
    pcc.wait(session)
    morning = files(pcc.project)
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.press("Report")
        browser.press("What has changed")
        browser.sees("3 files +3 −1 since")
        browser.sees("1 commit since:")
        browser.sees("By the agent")
        browser.press("app.py")
        browser.sees("-one, and mine\n+two")
        choose(browser, "second")
        browser.sees("1 file +1 −0 since")
        listed = browser.run("return document.querySelector('.files').innerText").split()
        assert listed == ["late.py", "added", "+1"]

        browser.press("Undo…")
        browser.sees("before “second”")
        assert files(pcc.project) == morning, "nothing is done before it is said"
        browser.press("Leave it")
        assert "before “second”" not in browser.text
        choose(browser, "Since the session began")
        browser.sees("3 files +3 −1 since")
        browser.press("Undo…")
        browser.sees("remove\nmade.py")
        browser.sees("What the tasks after it changed goes back, too.")
        browser.sees("1 commit since stays in its branch")
        browser.press("Put 3 files back")
        browser.sees("3 files put back: all is as it was")
        assert files(pcc.project) == before

        browser.press("Return to undo-1…")
        browser.sees("bring back\nmade.py")
        browser.press("Put 3 files back")
        browser.sees("kept as undo-2")
        assert files(pcc.project) == morning
        browser.sees("Files are put back as they were before undo-1")
        assert browser.complaints() == []
    [first, second] = pcc.events(session, "UndoBegan")
    assert (first["kept"], second["kept"], second["to"]) == ("undo-1", "undo-2", "undo-1")
    assert "@" in first["by"]


def choose(browser: Browser, words: str) -> None:
    script = """
      const at = document.querySelector('#since');
      at.value = [...at.options].find((one) => one.text.includes(arguments[0])).value;
      at.dispatchEvent(new Event('change'));
    """
    browser.run(script, words)


OWN = {
    "id": "s1", "name": "shop", "runs": 1, "tasks": [], "spent": {"tokens": 1, "usd": 1.0},
    "status": "COMPLETED",
}  # fmt: skip
NIGHT = {"name": "t-1", "task": "t-1", "at": 1_800_000_000.0, "prompt": "Rework <b>it</b>"}
NAMES = [
    "huge.txt",
    "photo.png",
    "<script>document.title='owned'</script>",
    "a\u202egpj.exe\x1b[31m",
]
CHANGES = {
    "files": [
        {"name": name, "change": "added", "id": str(n), "added": 200_000, "removed": 0}
        for n, name in enumerate(NAMES)
    ],
    "total": 50_000, "added": 10_000_000, "removed": 7, "commits": [], "commits_total": 0,
    "left_out": [], "left_out_total": 0, "since": {**NIGHT, "head": ""}, "until": None,
    "snapshots": [NIGHT],
}  # fmt: skip
CHANGES["files"][1] |= {"added": None, "removed": None}
CHANGES["files"] += [
    {"name": f"more/{n}", "change": "changed", "id": "0", "added": 1, "removed": 1}
    for n in range(296)
]
LINES = [f"{'+-'[n % 2]}{'<b>x</b> ' * 12}{n}" for n in range(1_999)]
HUGE = {"name": "huge.txt", "is_cut": True, "text": "\n".join(["@@ -1 +1 @@", *LINES])}
PLAN = {
    "files": [{"name": name, "change": "deleted"} for name in NAMES], "total": 4, "spared": [],
    "spared_total": 0, "present": "a" * 40, "commits": [], "commits_total": 0,
    "to": {**NIGHT, "head": ""}, "at_work": [],
}  # fmt: skip


SAID = {
    "session.list": [{**SESSION, **OWN}],
    "session.get": {**SESSION, **OWN},
    "snapshot.changes": CHANGES,
    "snapshot.patch": HUGE,
    "snapshot.plan": PLAN,
}


@pytest.fixture
def engine(browser: Browser) -> Iterator[ScriptedEngine]:
    found = ScriptedEngine(SAID)
    with found.bridged() as there:
        browser.size(390, 844)
        browser.open(there.link)
        browser.press("shop")
        browser.sees("What has changed")
        yield found


@pytest.mark.usefixtures("engine")
def test_huge_patches_and_hostile_names_are_text_and_fit_on_a_phone(browser):
    browser.press("What has changed")
    browser.sees("50,000 files +10,000,000 −7")
    browser.sees("49,700 files more: pcc diff s1 --stat")
    for name in (NAMES[0], NAMES[2]):
        browser.press(name)
    browser.sees("Cut: it goes on. All of it: pcc diff s1")
    browser.sees("no text")
    browser.sees("a\ufffdgpj.exe\ufffd[31m")
    browser.press("Undo…")
    browser.sees("Put 4 files back")

    assert browser.run("return document.querySelectorAll('ins > *, del > *, script').length") == 1
    assert browser.title == "PerpetualCC"
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    assert browser.run("return document.getElementsByTagName('*').length") < 8_000
    assert browser.complaints() == []


def test_git_is_asked_when_a_person_asks_and_at_no_other_time(engine, browser):
    browser.run("document.dispatchEvent(new Event('visibilitychange'))")
    assert engine.counted("snapshot.changes") == 0

    browser.press("What has changed")
    browser.sees("Rework <b>it</b>")
    browser.press("huge.txt")
    browser.sees("Cut:")
    browser.press("huge.txt")
    browser.press("huge.txt")
    for _ in range(2):
        browser.press("What has changed")
    browser.press("Look again")
    wait_until(lambda: engine.counted("snapshot.changes") > 1)

    assert engine.counted("snapshot.changes") == 2
    assert engine.counted("snapshot.patch") == 1
    assert engine.counted("snapshot.plan") == 0
    asked = [params for method, params in engine.asked if method == "snapshot.patch"]
    assert asked == [{"session": "s1", "file": "0"}]


def test_it_is_refused_beside_work_and_what_changed_meanwhile_is_said(engine, browser):
    browser.press("What has changed")
    engine.said["snapshot.plan"] = PLAN | {"at_work": [{"id": "s2", "name": "mill"}]}
    browser.press("Undo…")
    browser.sees("Session mill (s2) works on these files: wait for it, or pause it.")
    assert "Put 4 files back" not in browser.text
    browser.press("Close")

    engine.said["snapshot.plan"] = PLAN
    told = {"message": "files have changed since you looked", "hint": "Look again"}
    engine.said["snapshot.restore"] = {"code": -1, "message": "", "data": told}
    browser.press("Undo…")
    browser.press("Put 4 files back")
    browser.sees("files have changed since you looked. Look again")

    engine.said["snapshot.changes"] = {"code": -1, "message": "", "data": {"message": "No git"}}
    browser.press("Look again")
    browser.sees("No git")


def test_the_keyboard_alone_sees_and_takes_back(engine, browser):
    engine.said["snapshot.restore"] = {"kept": "undo-1", "total": 4}
    browser.tab_to("SUMMARY What has changed")
    browser.key("Enter")
    browser.sees("huge.txt")
    browser.tab_to("BUTTON Look again")
    browser.key("Enter")
    wait_until(lambda: engine.counted("snapshot.changes") == 2)
    assert browser.focus == "BUTTON Look again"
    browser.tab_to("SUMMARY huge.txt")
    browser.key("Enter")
    browser.sees("Cut:")
    browser.tab_to("PRE")
    browser.run("document.querySelector('.changes > summary').focus()")
    browser.tab_to("BUTTON Undo…")
    browser.key("Enter")
    browser.wait(lambda: browser.focus.startswith("DIV To the files"), "the focus is lost")
    browser.tab_to("BUTTON Put 4 files back")
    browser.key("Enter")
    browser.wait(lambda: browser.focus.startswith("DIV 4 files put back"), "the focus is lost")
    browser.tab_to("BUTTON Close")
    browser.key("Enter")
    browser.wait(lambda: browser.focus == "BUTTON Undo…", "the focus is lost")


@pytest.mark.usefixtures("engine")
def test_a_list_of_hundreds_of_files_is_one_stop_in_which_the_arrows_lead(browser):
    browser.press("What has changed")
    browser.sees("huge.txt")
    browser.tab_to("SUMMARY huge.txt")

    for key, name in (("ArrowDown", "photo.png"), ("ArrowUp", "huge.txt"), ("End", "more/295")):
        browser.key(key)
        assert browser.focus.startswith(f"SUMMARY {name}")
    browser.key("Tab")

    assert browser.focus.startswith("OL")
    browser.run("document.querySelector('.changes select').focus()")
    browser.tab_to("SUMMARY more/295")


@pytest.mark.usefixtures("engine")
def test_a_phone_that_may_not_work_sees_and_cannot_undo(browser):
    browser.run("document.body.dataset.scope = 'look'")
    browser.press("What has changed")
    browser.sees("huge.txt")
    assert "Undo" not in browser.text
