"""What reaches a person who is away: the day's digest, and that nothing runs any more."""

import time
from dataclasses import replace

import pytest

from tests.acceptance.receivers import Mailbox, Webhook
from tests.acceptance.supervised import wait_until
from tests.acceptance.test_people import QUESTION, configure, notices, the_one_that_waits

pytestmark = [pytest.mark.claude, pytest.mark.timeout(240)]

DAY = 86_400


def another(pcc, task: str, *words: str) -> str:
    """A session in a project of its own."""
    project = pcc.project.parent / "api"
    project.mkdir(exist_ok=True)
    said = pcc.pcc("start", str(project), "--task", task, "--detach", *words)
    return said.stdout.split()[2]


def kinds(pcc) -> list[str]:
    return [one["kind"] for one in reversed(notices(pcc))]


def test_the_day_is_told_once_through_kills_and_a_sleep(install, tmp_path):
    webhook, mailbox, offset = Webhook(), Mailbox(), tmp_path / "offset"
    offset.write_text("0")
    pcc = install(QUESTION)
    configure(
        pcc,
        # This minute: whatever happens today has had its digest when the session starts.
        f"[human]\nhold_seconds = 1\nremind_after = []\n[notifications]\ndesktop = false\n"
        f'retry_seconds = 0.5\ndigest = "00:00"\nurls = ["{webhook.url}", "{mailbox.url}"]\n',
    )
    pcc = replace(pcc, environment={**pcc.environment, "PERPETUALCC_CLOCK_OFFSET": str(offset)})
    with webhook.listening(), mailbox.listening():
        assert "Nothing happened" in pcc.pcc("notify", "digest", check=False).stderr
        session = pcc.start("Add a place to store notes")
        number = str(the_one_that_waits(pcc)["number"])
        pcc.wait(session, "WAITING_INPUT")
        wait_until(lambda: not pcc.claudes(), within=60)
        tried = pcc.pcc("notify", "digest")
        assert tried.stdout.count("  sent\n") == 2
        assert "digest" not in kinds(pcc)

        offset.write_text(str(DAY))
        for _ in range(2):
            pcc.kill_engine()
            pcc.pcc("list")
        wait_until(lambda: kinds(pcc).count("digest") == 2, within=60)
        pcc.kill_engine()
        wait_until(lambda: {one["state"] for one in notices(pcc)} <= {"sent"}, within=90)
        offset.write_text(str(DAY - 3600))
        pcc.kill_engine()
        for later in (DAY - 3600, DAY + 3600):
            offset.write_text(str(later))
            pcc.pcc("list")
        time.sleep(1)
        assert kinds(pcc).count("digest") == 2, "once for each channel"

        offset.write_text(str(3 * DAY))
        pcc.pcc("list")
        time.sleep(1)
        assert kinds(pcc).count("digest") == 2, "nothing happened since"

    [told] = [one for one in webhook.got if "Nothing runs since" in one["message"]][1:]
    assert "; 1 waits for you" in told["title"]
    lines = told["message"].splitlines()
    assert lines[:2] == ["Waits for you:", f"#{number} {session}"]
    assert lines[2].startswith(f"  pcc respond {number} ")
    assert lines[-1].startswith("See: pcc report --since ")
    assert "notes" not in told["message"], "no text leaves this machine"
    mails = [mail for mail in mailbox.mails if "waits for you" in mail["Subject"]]
    assert len(mails) == 2, "the trial and the digest"


def test_that_nothing_runs_any_more_is_told_once_with_the_persons_own_names(install):
    webhook = Webhook()
    pcc = install(QUESTION)
    configure(
        pcc,
        "[human]\nhold_seconds = 1\nremind_after = []\n"
        f'[notifications]\ndesktop = false\nurls = ["{webhook.url}"]\n',
    )
    with webhook.listening():
        first = pcc.start("Add a place to store notes")
        pcc.wait(first, "WAITING_INPUT")
        wait_until(lambda: "question" in kinds(pcc), within=60)
        assert "standstill" not in kinds(pcc), "it worked alone: its own message said it"

        second = another(pcc, "Something secret", "--session-name", "dark mode")
        pcc.wait(second, "WAITING_INPUT")
        # Before anybody answers: then it would say what is over.
        wait_until(lambda: any("nothing runs" in one["title"] for one in webhook.got), within=60)
        pcc.kill_engine()
        for number in (1, 2):
            pcc.pcc("respond", str(number), "PostgreSQL")
        pcc.wait(first)
        pcc.wait(second)
        wait_until(lambda: kinds(pcc).count("completion") == 2, within=60)
        wait_until(lambda: {one["state"] for one in notices(pcc)} <= {"sent", "moot"}, within=90)

    told = [one for one in webhook.got if "nothing runs any more" in one["title"]]
    assert [one["title"] for one in told][:1] == [
        "PerpetualCC: nothing runs any more (2 wait for you)"
    ]
    assert f"dark mode ({second}) waits for you" in told[0]["message"]
    assert f"\n{first} waits for you" in told[0]["message"]
    assert any(one["title"] == "PerpetualCC: dark mode has a question" for one in webhook.got)
    last = [one for one in webhook.got if "is done" in one["title"]][-1]
    assert "Nothing else runs: all work is done." in last["message"]
    assert "secret" not in "".join(webhook.bodies)


def test_what_a_digest_could_not_deliver_is_in_the_next_and_no_third(install, tmp_path):
    webhook, offset = Webhook(), tmp_path / "offset"
    offset.write_text("0")
    pcc = install("steps: [Done., Done again., And more.]")
    configure(
        pcc,
        "[notifications]\ndesktop = false\non_complete = false\non_standstill = false\n"
        f'retry_seconds = 0.5\ndigest = "00:00"\nurls = ["{webhook.url}"]\n',
    )
    pcc = replace(pcc, environment={**pcc.environment, "PERPETUALCC_CLOCK_OFFSET": str(offset)})
    session = pcc.start("Paint it", "--session-name", "paint")
    pcc.wait(session, "COMPLETED")
    for days in (1, 2):
        offset.write_text(str(days * DAY))
        pcc.kill_engine()
        pcc.pcc("list")
        wait_until(lambda days=days: kinds(pcc).count("digest") == days, within=60)
    # What is on its way may still arrive: the first is not tried any more.
    wait_until(lambda: any(one["due"] is None for one in notices(pcc)), within=60)

    with webhook.listening():
        wait_until(lambda: webhook.got, within=60)
        wait_until(lambda: "sent" in {one["state"] for one in notices(pcc)}, within=60)
        offset.write_text(str(3 * DAY))
        pcc.kill_engine()
        pcc.pcc("list")
        time.sleep(2)

    assert [f"paint ({session}), completed: 1 task done" in body for body in webhook.bodies] == [
        True
    ], "told late, and once: nothing happened since"
    assert [one["state"] for one in notices(pcc)].count("sent") == 1


def test_work_for_next_week_keeps_nobody_from_hearing_that_nothing_runs(install):
    webhook = Webhook()
    pcc = install("steps: [Done., Done.]")
    configure(pcc, f'[notifications]\ndesktop = false\nurls = ["{webhook.url}"]\n')
    with webhook.listening():
        first = pcc.start("Paint it", "--session-name", "paint")
        pcc.pcc("add", first, "Paint it again", "--at", "in 8 days")
        wait_until(lambda: "standstill" in kinds(pcc), within=60)
        wait_until(lambda: any("nothing runs" in one["title"] for one in webhook.got), within=60)

        second = another(pcc, "Something else", "--session-name", "walls")
        pcc.wait(second, "COMPLETED")
        wait_until(lambda: "completion" in kinds(pcc), within=60)
        wait_until(lambda: any("is done" in one["title"] for one in webhook.got), within=60)

    [stands] = [one for one in webhook.got if "nothing runs" in one["title"]]
    assert stands["title"] == "PerpetualCC: nothing runs any more (1 begins later)"
    begins = f"Next: paint ({first}) begins "
    assert f"\n{begins}" in stands["message"]
    [done] = [one for one in webhook.got if "is done" in one["title"]]
    assert f"Nothing else runs.\n{begins}" in done["message"]
