"""
Sends what the outbox holds: each message once, tried again with back-off for hours.

A message is sent by a process of its own, which leaves a receipt. When the engine dies in the
middle, the next one finds the receipt, or knows after a while that there will be none.
"""

import asyncio
import json
import logging
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.hours import end_of_quiet, parse_hours
from perpetualcc.domain.waiting import LONGEST_SLEEP, sleep_until, wait_at_most
from perpetualcc.human.notifications import post
from perpetualcc.human.notifications.channels import DESKTOP, Channel, order_for
from perpetualcc.human.notifications.outbox import Kind, NewNotice, Notice, NoticeState, Outbox
from perpetualcc.human.notifications.senders import Senders
from perpetualcc.human.notifications.settings import NotificationSettings
from perpetualcc.human.notifications.times import next_try

log = logging.getLogger(__name__)

_AT_ONCE = 4
"""Senders at the same time."""
_RECEIPT_AFTER = timedelta(seconds=post.LONGEST + 5)
_LOOK_AGAIN = timedelta(seconds=1)
"""Laptops sleep and clocks jump."""
_LONGEST_RECEIPT = 100_000
"""Bytes."""
_POLL = 0.02
"""Seconds between two looks at a sender."""
_GOODBYE = timedelta(seconds=2)
_DESKTOP_TRIES = 3
"""A desktop that is not there now is not asked for hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What messages are sent with."""

    channels: Sequence[Channel]
    settings: NotificationSettings
    receipts: Path
    """A directory of ours."""
    desktop_program: str | None = None


class Courier:
    """Works on the outbox until it is stopped."""

    def __init__(self, outbox: Outbox, equipment: Equipment, clock: Clock) -> None:
        self._outbox = outbox
        self._with = equipment
        self._channels = {channel.name: channel for channel in equipment.channels}
        self._quiet = parse_hours(equipment.settings.quiet_hours)
        self._clock = clock
        self._woken = asyncio.Event()
        self._stopping = False
        self._sending: dict[int, asyncio.Task[None]] = {}
        self._senders = Senders(equipment.channels)

    @property
    def is_sending(self) -> bool:
        return bool(self._sending)

    def wake(self) -> None:
        """Something new is in the outbox."""
        self._woken.set()

    def stop(self) -> None:
        """Start nothing more; what is under way has two seconds, then its receipt must do."""
        self._stopping = True
        self.wake()

    async def run(self) -> None:
        self._with.receipts.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            await self._work()
        finally:
            self._senders.close()

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as senders:
            while not self._stopping:
                self._woken.clear()
                try:
                    if not self._sending:
                        self._senders.prepare()
                    is_looking = await self._start_what_is_due(senders)
                    pause = _LOOK_AGAIN if is_looking else await self._pause()
                except Exception:  # trouble that passes must not silence the courier
                    log.exception("the outbox cannot be worked on")
                    pause = LONGEST_SLEEP
                await wait_at_most(pause, self._woken)
            await self._take_leave()

    async def _start_what_is_due(self, senders: asyncio.TaskGroup) -> bool:
        """Whether a receipt is looked for, of a sender that an earlier engine started."""
        is_looking = False
        for notice in await self._outbox.due():
            if len(self._sending) >= _AT_ONCE:
                break
            if notice.id in self._sending:
                continue
            if notice.state is NoticeState.SENDING:
                is_looking = True
                await self._look_for_receipt(notice)
            elif begun := await self._begun(notice):
                runner = senders.create_task(self._send(begun), name=f"notification {notice.id}")
                self._sending[notice.id] = runner
                runner.add_done_callback(partial(self._forget, notice.id))
        return is_looking

    def _forget(self, notice: int, _runner: "asyncio.Task[None]") -> None:
        self._sending.pop(notice, None)
        self.wake()

    async def _begun(self, notice: Notice) -> Notice | None:
        """As it is sent; None when it is not to leave now."""
        if notice.what.channel not in self._channels:
            await self._pass_on(notice.what)
            await self._outbox.end(notice.id, NoticeState.FAILED, "no such channel is configured")
            return None
        quiet = end_of_quiet(self._clock.now(), self._quiet)
        if quiet is not None and notice.what.kind is not Kind.TEST:
            await self._outbox.postpone(notice.id, quiet, notice.problem)
            return None
        look_again = self._clock.now() + _RECEIPT_AFTER.total_seconds()
        return await self._outbox.begin(notice.id, look_again=look_again)

    async def _pass_on(self, what: NewNotice) -> None:
        """
        An address was corrected, or set at last: what waited for it leaves through those that
        have come since. The others have it under the same cause; the desktop's text stays here.
        """
        if what.kind is not Kind.TEST and what.channel != DESKTOP:
            others = [one.name for one in self._channels.values() if one.is_remote]
            await self._outbox.put([replace(what, channel=name) for name in others])

    async def _send(self, notice: Notice) -> None:
        try:
            code = await self._post(notice)
            lost = {"problem": "" if code == post.TAKEN else "its sender left no receipt"}
            await self._conclude(notice, self._receipt(notice) or lost)
        except Exception:  # the row says `sending`: it is looked after again
            log.exception("notification %s is in doubt", notice.id)

    async def _post(self, notice: Notice) -> int:
        order = self._order(notice.what)
        receipt = str(self._receipt_path(notice.id, notice.attempts))
        return await _ended(self._senders.send({**order, "receipt": receipt}))

    def _order(self, what: NewNotice) -> Mapping[str, Any]:
        machine = self._with.settings.machine
        name, colon, rest = what.title.partition(": ")
        return order_for(
            self._channels[what.channel],
            f"{name} ({machine}){colon}{rest}" if machine else what.title,
            what.body,
            program=self._with.desktop_program,
            sound=self._with.settings.sound,
            urgent=what.kind in {Kind.QUESTION, Kind.ERROR},
        )

    async def send_unrecorded(self, notices: Iterable[NewNotice]) -> None:
        """Once, at once and without a row or a receipt: for when neither can be written."""
        if end_of_quiet(self._clock.now(), self._quiet) is None:
            for what in notices:
                await _ended(self._senders.send(self._order(what)))

    def _receipt_path(self, notice: int, attempt: int) -> Path:
        return self._with.receipts / f"{notice}.{attempt}"

    def _receipt(self, notice: Notice) -> Mapping[str, Any] | None:
        with suppress(OSError, ValueError, RecursionError):
            path = self._receipt_path(notice.id, notice.attempts)
            found = json.loads(read_regular(path, _LONGEST_RECEIPT))
            return found if isinstance(found, dict) else None
        return None

    async def _look_for_receipt(self, notice: Notice) -> None:
        """An earlier engine began to send it."""
        receipt = self._receipt(notice)
        began = notice.started_at or 0.0
        if receipt is not None:
            await self._conclude(notice, receipt)
        elif self._clock.now() >= began + _RECEIPT_AFTER.total_seconds():
            await self._conclude(notice, {"problem": "its sender was lost"})

    async def _conclude(self, notice: Notice, receipt: Mapping[str, Any]) -> None:
        """Write down how it went, then forget the receipt."""
        problem = str(receipt.get("problem", ""))
        if not problem:
            await self._outbox.end(notice.id, NoticeState.SENT)
        elif receipt.get("permanent") or self._is_hopeless(notice):
            log.warning("notification %s through %s: %s", notice.id, notice.what.channel, problem)
            await self._outbox.end(notice.id, NoticeState.FAILED, problem)
        else:
            first = timedelta(seconds=self._with.settings.retry_seconds)
            due = self._clock.now() + next_try(notice.attempts, first).total_seconds()
            await self._outbox.postpone(notice.id, due, problem)
        self._receipt_path(notice.id, notice.attempts).unlink(missing_ok=True)

    def _is_hopeless(self, notice: Notice) -> bool:
        channel = self._channels.get(notice.what.channel)
        if channel is None:  # it was taken out of the configuration while this was being sent
            return True
        if notice.what.kind is Kind.TEST or not channel.is_remote:
            return notice.attempts >= (1 if notice.what.kind is Kind.TEST else _DESKTOP_TRIES)
        age = self._clock.now() - notice.created_at
        return age >= self._with.settings.give_up.total_seconds()

    async def _pause(self) -> timedelta:
        due = await self._outbox.next_due() if len(self._sending) < _AT_ONCE else None
        return sleep_until(due, self._clock.now(), at_least=timedelta(milliseconds=50))

    async def _take_leave(self) -> None:
        deadline = time.monotonic() + _GOODBYE.total_seconds()
        while self._sending and (left := deadline - time.monotonic()) > 0:
            self._woken.clear()
            await wait_at_most(timedelta(seconds=left), self._woken)
        for runner in self._sending.values():
            runner.cancel()


async def _ended(sender: subprocess.Popen[bytes]) -> int:
    """Its exit code."""
    while (code := sender.poll()) is None:  # noqa: ASYNC110  # a process, not an event of ours
        await asyncio.sleep(_POLL)
    return code
