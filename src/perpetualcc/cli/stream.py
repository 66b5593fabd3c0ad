"""Watching a session live: events out, answers in."""

import select
import sys
import time
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Any

from perpetualcc.cli.asking import Prompt, untold_lines
from perpetualcc.cli.connection import connect
from perpetualcc.cli.history import NOTHING_LEFT, last_events, refuse_broken
from perpetualcc.cli.look import coloured, hung, one_line, printable, steers
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.say import new_key, outlook, say_to
from perpetualcc.cli.telling import Telling
from perpetualcc.cli.typed_line import TypedLine
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.client import Client, ConnectionLost
from perpetualcc.human.answers import AnswerError


class Ending(Enum):
    """Why watching ended."""

    FINISHED = auto()
    """The session has completed."""
    PAUSED = auto()
    STOPPED = auto()
    FAILED = auto()
    """A person must look."""
    DETACHED = auto()
    """The person left; the session goes on."""


_ENDINGS = {
    "COMPLETED": Ending.FINISHED,
    "PAUSED": Ending.PAUSED,
    "STOPPED": Ending.STOPPED,
    "ERROR": Ending.FAILED,
}


_PATIENCE = 5
"""Seconds without an event after which somebody who watches may wonder."""
_SETTLED = 0.2
"""Seconds without an event after which it is asked: below the past, and what comes with it."""
_LAST_WORD = 1.0
"""Seconds in which a session that has stopped says what a person can do."""
_SAY = "   Say to Claude > "
_STOP = "Stop this session for good? What is left of its work is cancelled [y/N] "
TAIL = 1_000
"""Events of the past that are shown: some hours of work, and no more than one can scroll."""


class Watcher:
    """Follows one session, across restarts of the engine."""

    def __init__(self, options: GlobalOptions, session: str, *, tail: int = TAIL) -> None:
        """`tail`: how many events of the past are shown."""
        self._tail: int | None = tail
        self._passed_ending: Ending | None = None
        self._options = options
        self._session = session
        self._telling = Telling(options.detail)
        self._since = 0
        self._waiting: dict[int, Prompt] = {}
        self._line = TypedLine()
        self._asked = 0
        """The request that a typed line answers, if it is still waiting."""
        self._is_stopping = False
        """A typed line says whether the session is to stop."""
        self._is_speaking = False
        """A typed line is said to Claude."""
        self._unsent: tuple[str, str] | None = None
        """What was typed when the daemon went away, with the key that it is said by."""
        self._outlooks: dict[int, str] = {}
        """When what was said here reaches Claude, by its number; told with the event."""
        self._listens = self._line.is_there
        self._countdown = Countdown()
        self._quiet = 0
        """Seconds without an event."""
        self._delay = ""
        """What held the session up when it was asked last."""

    def watch(self) -> Ending:
        """Until the session ends, or the person leaves with Ctrl+C."""
        if self._listens:
            leave = "end" if self._options.staged else "detach (session continues in background)"
            key = "Type" if self._line.is_whole else "Enter"
            speak = "" if self._options.staged else f"{key} to say something to Claude\n"
            print(f"\nCtrl+C to {leave}\nCtrl+D to stop session\n{speak}")
        try:
            self._line.listen()
            return self._until_the_end()
        finally:
            self._clear_line()
            self._let_go()
            self._line.close()

    def _until_the_end(self) -> Ending:
        while True:
            try:
                with connect(self._options, undo_stop=False) as daemon:
                    self._pass_over(daemon)
                    daemon.call(
                        "events.follow",
                        session=self._session,
                        since=self._since,
                        attend=self._listens,
                    )
                    return self._follow(daemon)
            except ConnectionLost:
                self._clear_line()
            except KeyboardInterrupt:
                return Ending.DETACHED

    def _pass_over(self, daemon: Client) -> None:
        """
        What is too long ago, once; what waits for a person since then is asked all the same.

        What an ended session ended with may be removed by now: its status ends the watching too.
        """
        if self._tail is None:
            return
        found = daemon.call("session.get", session=self._session)
        self._passed_ending = _ENDINGS.get(found["status"])
        self._telling = Telling(
            self._options.detail,
            project=found["project"],
            staged=self._options.staged,
            here=self._listens,
        )
        past = last_events(daemon, self._session, self._tail)
        if not past:
            print(NOTHING_LEFT, file=sys.stderr)
        first = past[0]["seq"] if past else 0
        if first and daemon.call("events.tail", session=self._session, count=1, before=first):
            print(f"… the last {len(past)} events; more with: pcc attach {self._session} --tail N")
            self._since = first - 1
            for request in daemon.call("escalation.list", session=self._session):
                if request["type"] != "review":
                    # Whole: of many that wait, a list cuts the texts.
                    whole = daemon.call("escalation.get", number=request["number"])
                    self._waiting[request["number"]] = Prompt(request=whole)
        self._tail = None

    def _follow(self, daemon: Client) -> Ending:
        ended, self._passed_ending = self._passed_ending, None
        self._send_unsent(daemon)
        while True:
            if self._is_not_to_be_torn:
                self._wait(daemon)
                continue
            # A status of the past does not end the watching: something may come after it.
            event = daemon.next_event(self._pause(ended))
            if event is not None:
                refuse_broken(event)
                ended = self._show(event.data, ended)
                self._refuse_to_wait_for_nobody(daemon, event.data)
            elif ended is not None and self._is_newest(daemon):
                return ended
            else:
                self._prompt(daemon)
                self._wait(daemon)

    def _pause(self, ended: Ending | None) -> float:
        """Seconds for what may follow at once, before it is asked or left."""
        if ended is Ending.FAILED:
            return _LAST_WORD
        return _SETTLED if self._is_to_prompt and not self._is_speaking else 0

    @property
    def _is_not_to_be_torn(self) -> bool:
        """Half a line, on a terminal that cannot draw it again."""
        return self._is_speaking and self._line.is_shown and not self._line.is_whole

    def _is_newest(self, daemon: Client) -> bool:
        """Nothing has happened since what was shown last."""
        found = daemon.call("events.tail", session=self._session, count=1)
        return not found or found[-1]["seq"] <= self._since

    def _show(self, event: Mapping[str, Any], ended: Ending | None) -> Ending | None:
        self._since = event["seq"]
        self._note(event)
        if event["kind"] == "WordSaid":
            event = {**event, "outlook": self._outlooks.pop(event["number"], "")}
        if lines := self._telling.lines(event):
            self._clear_line()
            for line in lines:
                print(hung(line), flush=True)
            if self._line.text and self._is_typed_for_something:
                self._invite()
        if event["kind"] == "SessionStatusChanged":
            self._countdown.until = event["resumes_at"]
            return _ENDINGS.get(event["after"])
        return ended

    def _refuse_to_wait_for_nobody(self, daemon: Client, event: Mapping[str, Any]) -> None:
        if not self._options.staged or self._listens or event["kind"] != "EscalationRaised":
            return
        if event["type"] in {"question", "permission"}:
            daemon.call("session.stop", session=self._session)
            raise PerpetualError(
                "Nobody is there to answer", hint="Play it at a terminal, and answer there"
            )

    def _note(self, event: Mapping[str, Any]) -> None:
        """What waits for an answer, and what no longer does, whoever gave it."""
        match event["kind"]:
            case "EscalationRaised" if event["type"] != "review":
                self._waiting[event["number"]] = Prompt(request=event)
            case "EscalationSettled":
                self._waiting.pop(event["number"], None)
            case _:
                pass

    @property
    def _is_to_prompt(self) -> bool:
        asks = self._is_stopping or self._is_speaking or bool(self._waiting)
        return self._listens and (asks or bool(self._line.text)) and not self._line.is_shown

    @property
    def _is_typed_for_something(self) -> bool:
        """What is typed is meant for what was asked when it was begun, and for nothing else."""
        return self._is_stopping or self._is_speaking or self._asked in self._waiting

    def _prompt(self, daemon: Client) -> None:
        """Ask about the end, or the oldest request, unless it is on the screen already."""
        if not self._is_to_prompt:
            return
        self._countdown.clear()
        if self._line.text and not self._is_typed_for_something:
            self._let_go()
        if self._line.is_whole and self._waiting and not self._line.text:
            self._is_speaking = False
        if self._line.text or self._is_stopping or self._is_speaking:
            self._invite()
        elif self._waiting:
            self._ask(daemon, self._waiting[min(self._waiting)])

    def _ask(self, daemon: Client, prompt: Prompt) -> None:
        untold: Iterable[str] = ()
        if prompt.number != self._asked:
            untold = untold_lines(daemon.call("escalation.get", number=prompt.number))
            # What was typed, with or without its Enter, was meant for something else.
            self._line.forget()
            self._asked = prompt.number
        for line in (*untold, *prompt.lines()):
            print(hung(line))
        self._telling.interrupt()
        self._invite()

    def _invite(self) -> None:
        """The line to type on, with what is typed on it."""
        if self._is_stopping:
            self._line.show(_STOP)
        elif self._is_speaking:
            self._line.show(_SAY)
        else:
            self._line.show(self._waiting[self._asked].invitation)

    def _let_go(self) -> None:
        """What is typed is for nothing any more; whoever typed it may want to have it."""
        if self._line.text:
            print(f"   Not sent: {one_line(self._line.text)}")
        self._line.forget()

    def _clear_line(self) -> None:
        """Of the countdown, or that is typed on: what comes now is not a part of it."""
        self._countdown.clear()
        self._line.hide()

    def _wait(self, daemon: Client) -> None:
        self._line.listen()
        if not self._line.has_more:
            readers: list[Any] = [] if self._is_not_to_be_torn else [daemon]
            readers += [sys.stdin] if self._listens else []
            if not self._line.is_shown:
                self._countdown.show()
            ready, _, _ = select.select(readers, [], [], 1.0)
            self._quiet = 0 if ready else self._quiet + 1
            if self._quiet and self._quiet % _PATIENCE == 0 and not self._is_speaking:
                self._say_why_nothing_happens(daemon)
            if sys.stdin not in ready:
                return
        if (line := self._line.read()) is not None:
            self._take(daemon, line)
        elif self._line.text and not self._line.is_shown:
            self._countdown.clear()
            self._is_speaking = not self._is_typed_for_something
            self._invite()
        elif self._is_speaking and not self._line.text:
            self._is_speaking = False
            self._line.hide()

    def _take(self, daemon: Client, line: str) -> None:
        """What was typed: an answer, or Ctrl+D, which makes no line of its own."""
        self._countdown.clear()
        self._telling.interrupt()
        if self._is_stopping:
            if line.strip().casefold() in {"y", "yes"}:
                daemon.call("session.stop", session=self._session)
                self._listens = False
            else:
                print("Not stopped.")
            self._is_stopping = False
        elif self._is_speaking:
            self._is_speaking = False
            self._speak(daemon, line)
        elif not line:
            self._is_stopping = True
        elif not line.endswith("\n"):
            print("Not sent. Ctrl+D on an empty line asks whether to stop the session.")
        elif line.strip():
            self._answer(daemon, line)
        else:
            self._is_speaking = not self._waiting

    def _say_why_nothing_happens(self, daemon: Client) -> None:
        """Once for each reason of its kind: the numbers in it change all the time."""
        delay = daemon.call("session.get", session=self._session)["delay"]
        if delay and delay.partition(":")[0] != self._delay.partition(":")[0]:
            self._clear_line()
            self._telling.interrupt()
            print(f"{coloured('⏳', 'yellow')} {printable(delay)}", flush=True)
        self._delay = delay

    def _answer(self, daemon: Client, line: str) -> None:
        if not self._waiting:
            self._speak(daemon, line)
            return
        number = min(self._waiting)
        try:
            answer = self._waiting[number].take(line.strip())
            if answer is not None:
                daemon.call("escalation.respond", number=number, **answer)
                self._waiting.pop(number, None)
        except AnswerError as error:
            print(f"   {error.message}. {error.hint}")
        except PerpetualError as error:
            # Asked again from the start, if it still waits: somebody was first, it does not fit, or
            # the daemon went away with it, and the log says whether it was taken.
            asked = self._waiting[number] = Prompt(request=self._waiting[number].request)
            if isinstance(error, ConnectionLost):
                raise
            print(f"error: {error.message}")
            self._drop_if_settled(daemon, asked)

    def _speak(self, daemon: Client, line: str) -> None:
        """A line without its end was left with Ctrl+D."""
        if not line.strip() or not line.endswith("\n"):
            print("Nothing was said.")
            return
        self._unsent = (line, new_key())
        self._send_unsent(daemon)

    def _send_unsent(self, daemon: Client) -> None:
        """Again after the daemon went away, with the same key: so it is said once."""
        if self._unsent is None:
            return
        try:
            said = say_to(daemon, self._session, *self._unsent)
            self._outlooks[said["number"]] = outlook(said)
        except ConnectionLost:
            raise
        except PerpetualError as error:
            print(f"error: {error.message}")
            if error.hint:
                print(f"hint:  {error.hint}")
        self._unsent = None

    def _drop_if_settled(self, daemon: Client, asked: Prompt) -> None:
        if daemon.call("escalation.get", number=asked.number)["settled_at"] is not None:
            self._waiting.pop(asked.number, None)


class Countdown:
    """`Resuming in 1:23:45` at the bottom of a terminal; nothing where there is none."""

    def __init__(self) -> None:
        self.until: float | None = None
        self._is_shown = False

    def show(self) -> None:
        if self.until is None or not steers():
            return
        print(f"\r\x1b[K⏳ Resuming in {remaining(self.until - time.time())}", end="", flush=True)
        self._is_shown = True

    def clear(self) -> None:
        if self._is_shown:
            print("\r\x1b[K", end="")
            self._is_shown = False


def remaining(seconds: float) -> str:
    """`2d 03:04:05`, `1:23:45`, `4:05`."""
    total = max(0, round(seconds))
    days, hours, minutes = total // 86400, total // 3600 % 24, total // 60 % 60
    if days:
        return f"{days}d {hours:02}:{minutes:02}:{total % 60:02}"
    return f"{hours}:{minutes:02}:{total % 60:02}" if hours else f"{minutes}:{total % 60:02}"
