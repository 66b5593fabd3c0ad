"""The processes that send messages: one is ready before it is needed, none is left behind."""

import json
import time

from perpetualcc.human.notifications.channels import Channel
from perpetualcc.human.notifications.senders import Senders
from tests.acceptance.receivers import Webhook


def order(webhook: Webhook, receipt) -> dict[str, str]:
    return {"url": webhook.url, "title": "PerpetualCC: hello", "body": "b", "receipt": str(receipt)}


def test_the_one_that_waits_sends_the_next_message_and_leaves_its_receipt(tmp_path):
    webhook = Webhook()
    senders = Senders([Channel(name="json:1", url=webhook.url)])
    senders.prepare()
    senders.prepare()
    [waiting] = [senders._ready]

    with webhook.listening():
        sender = senders.send(order(webhook, tmp_path / "1"))
        assert sender is waiting
        assert sender.wait(20) == 0

    assert json.loads((tmp_path / "1").read_text()) == {"problem": ""}
    assert webhook.got[0]["title"] == "PerpetualCC: hello"
    senders.close()


def test_one_that_died_while_it_waited_is_replaced(tmp_path):
    webhook = Webhook()
    senders = Senders([Channel(name="json:1", url=webhook.url)])
    senders.prepare()
    senders._ready.kill()
    senders._ready.wait()

    with webhook.listening():
        assert senders.send(order(webhook, tmp_path / "1")).wait(20) == 0

    assert len(webhook.got) == 1
    senders.close()


def test_it_ends_by_itself_when_whoever_holds_its_pipe_is_gone():
    senders = Senders([Channel(name="json:1", url="json://127.0.0.1:9/")])
    senders.prepare()
    waiting = senders._ready

    waiting.stdin.close()

    assert waiting.wait(20) == 0
    began = time.monotonic()
    senders.close()
    assert time.monotonic() - began < 5


def test_nobody_waits_where_only_the_desktop_is_told():
    senders = Senders([Channel(name="desktop")])
    senders.prepare()

    assert senders._ready is None
    senders.close()
