"""What people are told: enough to act on, nothing that leaks, steers or injects."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from perpetualcc.domain.escalations import ALWAYS
from perpetualcc.domain.events import (
    EscalationRaised,
    EscalationReminded,
    SessionStatusChanged,
    TaskSettled,
)
from perpetualcc.domain.ids import RequestId, SessionId
from perpetualcc.human.notifications.channels import (
    Channel,
    channel_name,
    desktop_command,
    find_channels,
    order_for,
)
from perpetualcc.human.notifications.message import compose
from perpetualcc.human.notifications.outbox import Kind
from perpetualcc.human.notifications.settings import NotificationSettings

NASTY = 'Use "x" -- $(id) `id` \x1b]0;t\x07 <b>&</b>\r\n sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaa?'


def a_session(name, *, is_named=False, project="/shop"):
    return SimpleNamespace(
        id="s-1",
        name=name,
        project=Path(project),
        options=SimpleNamespace(is_named=is_named),
    )


@pytest.mark.parametrize(
    ("session", "brief", "named"),
    [
        (a_session("dark mode", is_named=True), "dark mode", "shop: dark mode"),
        (a_session("write-the-secret"), "s-1", "shop: write-the-secret"),
        (a_session("a\x1b]0;t\x07\n\u202eb", is_named=True), "a ]0;t b", "shop: a ]0;t b"),
        (None, "s-1", "s-1"),
    ],
)
def test_a_session_is_called_by_the_name_its_person_gave_it_and_others_by_id(session, brief, named):
    """A name that was made from the task, or a folder's, leaves the machine only on demand."""
    limited = SessionStatusChanged(
        session=SessionId("s-1"), before="PROCESSING", after="RATE_LIMITED", detail="the limit"
    )
    done = SessionStatusChanged(session=SessionId("s-1"), before="PROCESSING", after="COMPLETED")
    for event in (asked(), limited, done):
        message = compose(event, session)

        assert message is not None
        assert message.brief[0].startswith(f"PerpetualCC: {brief} ")
        assert message.named[0].startswith(f"PerpetualCC: {named} ")
        assert message.full[0].startswith(f"PerpetualCC: {named} ")
        for _, body in (message.brief, message.named, message.full):
            assert "s-1" in body, "what commands take"
        assert "shop" not in "".join(message.brief)


def asked(**more):
    return EscalationRaised(
        session=SessionId("s-1"),
        number=4,
        request=RequestId("q"),
        type=more.pop("type", "question"),
        title=more.pop("title", NASTY),
        options=[{"label": "A"}, {"label": "B"}],
        **more,
    )


def test_a_question_names_session_reason_and_command_and_brief_holds_no_text():
    message = compose(asked(), None)

    assert message is not None
    assert message.kind is Kind.QUESTION
    title, body = message.brief
    assert "s-1 has a question" in title
    assert 'pcc respond 4 "…"' in body
    assert "Use" not in title + body
    assert "[1] A  [2] B" in message.full[1]


def test_where_the_dashboard_has_an_address_the_request_is_a_link_there():
    message = compose(asked(), None, page="https://box.test")

    assert message is not None
    for _, body in (message.brief, message.full):
        assert body.endswith("Or on a paired device: https://box.test/#/waiting/4")
    plain = compose(asked(), None)
    assert plain is not None
    assert "paired" not in plain.brief[1] + plain.full[1]


def test_what_is_agreed_to_is_looked_at_first():
    plan = {"question": "Begin?", "options": [], "yes_or_no": True}
    message = compose(asked(title="Begin?", context="1. The walls", questions=[plan]), None)

    assert message is not None
    title, body = message.brief
    assert title == "PerpetualCC: s-1 wants you to agree"
    assert body.splitlines() == [
        "Session s-1 wants you to agree (#4). See it with: pcc pending 4",
        'Answer with: pcc respond 4 --approve (or --deny, or "…")',
    ]
    assert "1. The walls" in message.full[1]


def reminded(raised):
    """The same, told again."""
    return EscalationReminded(
        reminders=1,
        raised_at=0.0,
        **{
            name: getattr(raised, name)
            for name in (
                *("session", "number", "type", "title", "options", "context", "questions"),
                *("suggestion", "confidence"),
            )
        },
    )


TWO = [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}, {"question": "Who?"}]


@pytest.mark.parametrize(
    ("raised", "reason", "command"),
    [
        (asked(), "has a question", 'pcc respond 4 "…"'),
        (asked(questions=TWO), "has a question", 'pcc respond 4 "…" "…"'),
        (
            asked(context="1. The walls", questions=[{"question": "Begin?", "yes_or_no": True}]),
            "wants you to agree",
            'pcc respond 4 --approve (or --deny, or "…")',
        ),
        (asked(suggestion="A", confidence=0.5), "has a question", 'pcc respond 4 "…"'),
    ],
)
def test_a_reminder_says_all_that_the_first_message_did(raised, reason, command):
    first, again = compose(raised, None), compose(reminded(raised), None)

    assert again.full[1] == first.full[1]
    assert again.brief[1].endswith(f"Answer with: {command}")
    assert f"still {reason} (since " in again.brief[0]


def test_an_offer_to_make_a_rule_is_told():
    question = EscalationRaised(
        session=SessionId("s-1"),
        number=4,
        request=RequestId("q"),
        type="permission",
        title="frob d",
        options=[{"label": "Allow"}, {"label": ALWAYS, "description": "you approved it before"}],
    )

    for message in (compose(question, None), compose(reminded(question), None)):
        assert "Offer: you approved it before" in message.full[1]
        for _, body in (message.full, message.brief):
            assert body.endswith("pcc respond 4 --approve (or --always, --deny)")
        assert "you approved" not in message.brief[1]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (asked(title="Change /shop/a.py or /my/shop/b?"), "Change a.py or /my/shop/b?"),
        (asked(title="Approve: Bash rm /shop/a", type="permission"), "Approve: Bash rm /shop/a"),
        (
            TaskSettled(
                session=SessionId("s-1"), state="done", result="See /shop/a.py.", repeats=True
            ),
            "See a.py.",
        ),
    ],
)
def test_what_lies_in_the_project_is_named_from_there_and_a_call_as_it_is(event, told):
    session = a_session("night")

    message = compose(event, session)

    assert told in message.full[1]


def test_no_secret_and_no_control_character_is_told():
    message = compose(asked(), None)

    assert message is not None
    for text in (*message.brief, *message.full):
        assert "sk-ant" not in text
        assert all(c == "\n" or c.isprintable() for c in text)
    assert all("\n" not in title for title in (message.brief[0], message.full[0]))


def test_what_is_nobodys_business_is_not_told():
    assert compose(asked(type="review"), None) is None
    begun = SessionStatusChanged(session=SessionId("s"), before="IDLE", after="PROCESSING")
    assert compose(begun, None) is None


@pytest.mark.parametrize(
    ("event", "kind", "command"),
    [
        (asked(type="permission"), Kind.QUESTION, "--approve"),
        (asked(type="error"), Kind.ERROR, "retry"),
        (
            SessionStatusChanged(session=SessionId("s"), before="PROCESSING", after="COMPLETED"),
            Kind.COMPLETION,
            "pcc status s",
        ),
        (
            SessionStatusChanged(
                session=SessionId("s"), before="PROCESSING", after="RATE_LIMITED", resumes_at=1e9
            ),
            Kind.LIMIT,
            "pcc status s",
        ),
    ],
)
def test_each_kind_says_what_to_type(event, kind, command):
    message = compose(event, None)

    assert message is not None
    assert message.kind is kind
    assert command in message.brief[1]


def test_a_wait_that_only_goes_on_is_told_once():
    longer = SessionStatusChanged(
        session=SessionId("s"),
        before="RATE_LIMITED",
        after="RATE_LIMITED",
        detail="the budget tokens_per_day has nothing left",
    )

    assert compose(longer, None) is None


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("the 5-hour limit, after the quiet hours", "(the 5-hour limit, after the quiet hours)"),
        ("budget tokens_per_day is used up", "(budget tokens_per_day is used up)"),
        ("the server is overloaded or fails", None),
        ("the server is overloaded or fails, tried in vain for an hour", "in vain for an hour"),
        ("the server cannot be reached", None),
        ("waits for your review: 2 results", "s waits for your review: 2 results; it goes on by"),
    ],
)
def test_a_wait_is_told_with_its_reason_and_a_hiccup_of_the_server_is_not_told(why, told):
    waits = SessionStatusChanged(
        session=SessionId("s"), before="PROCESSING", after="RATE_LIMITED", detail=why
    )

    message = compose(waits, None)

    assert (message is None) if told is None else (told in message.brief[1])


def test_a_desktop_message_is_arguments_and_never_a_script_an_option_or_markup():
    mac = desktop_command("/usr/bin/osascript", "P", "-sub", NASTY, sound=True, urgent=True)
    linux = desktop_command("/usr/bin/notify-send", "-P", "", NASTY, sound=True, urgent=True)

    scripts = [mac[place + 1] for place, part in enumerate(mac) if part == "-e"]
    assert NASTY in mac
    assert not any(NASTY in script for script in scripts)
    assert mac[-4:] == [NASTY, "P", " -sub", "Ping"]
    assert linux[linux.index("--") + 1] == "-P"
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in linux[-1]


def test_an_address_is_never_a_channels_name():
    url = "mailto://me:hunter2secret@example.org"
    settings = NotificationSettings(urls=(url, "env:HOOK", "env:GONE"))
    values = {"env:HOOK": "json://x.example.org/secret-path"}

    found = find_channels(
        settings,
        lambda written: values.get(written, "" if "env:" in written else written),
        desktop_program=None,
    )

    assert [one.name for one in found][1:] == ["json:HOOK", "unknown:GONE"]
    assert found[0].name == channel_name(url, url)
    assert not any("secret" in one.name for one in found)
    assert (
        find_channels(NotificationSettings(enabled=False, urls=(url,)), str, desktop_program="x")
        == ()
    )


@pytest.mark.parametrize(
    ("url", "said", "is_given_up"),
    [
        ("env:GONE", "'GONE' is not set where the daemon was started: export it, then:", False),
        ("nowhere://x", "does not know this address (nowhere://…)", True),
    ],
)
def test_an_address_that_can_never_be_used_is_given_up_at_once(tmp_path, url, said, is_given_up):
    receipt = tmp_path / "receipt"
    channel = Channel(name="x", url=url)
    order = order_for(channel, "T", "B", program=None, sound=False, urgent=False)

    subprocess.run(
        [sys.executable, "-m", "perpetualcc.human.notifications.post"],
        input=json.dumps({**order, "receipt": str(receipt)}),
        text=True,
        check=True,
    )

    found = json.loads(receipt.read_text())
    assert found.get("permanent", False) is is_given_up
    assert said in found["problem"]


def test_each_time_of_what_repeats_is_told_and_an_ordinary_task_is_not():
    done = TaskSettled(session="abc123", state="done", result="Two were updated.", repeats=True)

    message = compose(done, None)

    assert message.kind is Kind.COMPLETION
    assert "done for this time" in message.full[0]
    assert "Two were updated." in message.full[1]
    assert "Two were updated." not in message.brief[1]
    assert "pcc status abc123" in message.brief[1]
    assert compose(replace(done, repeats=False), None) is None
    assert compose(replace(done, state="waiting"), None) is None
