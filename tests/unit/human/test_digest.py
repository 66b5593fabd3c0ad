"""The digest's words: what waits first, short enough for a phone, no content unless it is asked."""

from perpetualcc.domain.escalations import Escalation, EscalationRequest, EscalationType
from perpetualcc.human.notifications.digest import Day, Worked, digest_of
from perpetualcc.human.notifications.message import Next, Who

ID, OTHER = "3c0bf4", "77aa01"
NASTY = "Use /shop/x\x1b]0;t\x07 \u202e or sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaa?"


def asked(number, kind=EscalationType.QUESTION, session=ID):
    request = EscalationRequest(
        session=session, run="r", task="t", request=f"q{number}", type=kind, title=NASTY,
        raw={"questions": [{}, {}]} if kind is EscalationType.QUESTION else {},
    )  # fmt: skip
    return Escalation(number=number, request=request, raised_at=0.0)


def day(**more):
    usual = {
        "since": 1_796_000_000.0,
        "until": 1_796_086_400.0,
        "sums": "3 tasks done, 1 not, 12K fresh tokens, $1.20",
        "worked": [
            Worked(who=Who(id=OTHER), standing="completed: 2 tasks done", tasks=["✓ Paint it"]),
            Worked(who=Who(id=ID, own="dark", whole="api: dark"), standing="waiting: 1 task done"),
        ],
        "waiting": [asked(4), asked(5, EscalationType.REVIEW)],
        "who": {ID: Who(id=ID, own="dark", whole="api: dark")},
        "homes": {ID: "/shop"},
        "following": [Next(who=Who(id=OTHER), how="begins", at=1_796_100_000.0)],
        "still_since": 1_796_080_000.0,
    }
    return Day(**{**usual, **more})


def test_what_waits_is_first_with_what_answers_it():
    title, body = digest_of(day(), page="https://box.test").brief
    lines = body.splitlines()

    assert title == "PerpetualCC: 3 tasks done, 1 not; 1 waits for you"
    assert lines[:5] == [
        "Waits for you:",
        "#4 dark (3c0bf4)",
        '  pcc respond 4 "…" "…"',
        "  Or on a paired device: https://box.test/#/waiting/4",
        "1 refused call waits for your review: pcc pending",
    ]
    assert lines[5].startswith("Since ")
    assert lines[5].endswith(": 3 tasks done, 1 not, 12K fresh tokens, $1.20")
    assert lines[6:8] == ["77aa01, completed: 2 tasks done", "dark (3c0bf4), waiting: 1 task done"]
    assert lines[8].startswith("Next: 77aa01 begins ")
    assert lines[9].startswith("Nothing runs since ")
    assert lines[10:] == ["See: pcc report --since 24h"]


def test_what_begins_after_a_review_is_counted():
    told = [digest_of(day(unreviewed=number)).brief[1] for number in (1, 2)]

    assert "1 session begins after your review: pcc list" in told[0].splitlines()
    assert "2 sessions begin after your review: pcc list" in told[1].splitlines()


def test_text_is_told_only_in_full_and_steers_nothing():
    message = digest_of(day())

    for _, body in (message.brief, message.named):
        assert "Use" not in body
        assert "Paint" not in body
    assert "api: dark" not in message.brief[1]
    assert "#4 api: dark (3c0bf4)\n" in message.named[1]
    _, full = message.full
    assert "#4 api: dark (3c0bf4): Use x ]0;t or" in full
    assert "  ✓ Paint it\n" in full
    assert not {"\x1b", "\x07", "\u202e"} & set(full)
    assert "sk-ant" not in full


def test_a_day_of_hundreds_is_short_all_the_same():
    many = day(
        waiting=[asked(number) for number in range(200)],
        worked=[
            Worked(who=Who(id=f"s{n:05}"), standing="completed: 9 tasks done", tasks=["✓ x" * 99])
            for n in range(300)
        ],
    )
    for _, body in (digest_of(many).brief, digest_of(many).full):
        assert len(body) < 1000
        assert "and 197 more: pcc pending" in body
        assert "sessions before\n" in body
        assert "s00299, completed: 9 tasks done" in body
        assert body.endswith("See: pcc report --since 24h")


def test_hours_in_which_nothing_ran_stand_below_the_sums_the_newest_three():
    slept = [f"Nothing ran {n}" for n in range(5)]

    lines = digest_of(day(outages=slept)).brief[1].splitlines()

    place = next(n for n, line in enumerate(lines) if line.startswith("Since "))
    assert lines[place + 1 : place + 5] == ["Nothing ran 2 times before", *slept[2:]]
