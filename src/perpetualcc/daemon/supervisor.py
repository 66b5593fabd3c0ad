"""
The process that is always there: tiny, standard library only, asleep in `select`.

It holds the single-instance lock, owns the listening socket and lends it to the engine, starts
the engine for a visitor, a due time or a file that grew, restarts it when it dies or hangs, and
gives up after five crashes in a row, unless the disk is full: that passes. Once the configuration
or the program is another it tries again; where that stays removed it leaves. It never reads a
client's bytes and never opens the database.
"""

import argparse
import errno
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from perpetualcc.claude import processes
from perpetualcc.config import claude_directory, config_path, steering
from perpetualcc.daemon.awake import NOTHING, Awake
from perpetualcc.daemon.background import detach, listen
from perpetualcc.daemon.child import EngineCommand, EngineProcess, kill_group
from perpetualcc.daemon.disk import spent_disk
from perpetualcc.daemon.program_files import ProgramFiles, Trace, trace
from perpetualcc.daemon.state import (
    NEEDS_A_PERSON,
    DaemonStatus,
    Phase,
    hold,
    is_held,
    is_still,
    note_halt,
    note_steering,
    read_pid,
    write_pid,
    write_status,
)
from perpetualcc.daemon.supervisor_log import SupervisorLog, tail
from perpetualcc.daemon.surroundings import for_a_daemon, offer_programs
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.version import code_version
from perpetualcc.learning.places import Places

WALL_CLOCK_CHECK = 30.0
"""Seconds between two looks at the wall clock while something is due: laptops sleep."""
_LONGEST_LEAD = 5.0
"""Seconds before a due time at which an engine is started at the earliest."""
_OVERSLEPT = 2.0
"""Seconds later than we wanted to look: the whole machine was stopped, not the engine alone."""
_ROOM_CHECK = 1.0
"""Seconds between two looks for room on a disk that was full when the engine died."""
_MENDED_CHECK = 1.0
"""Seconds between two looks at the configuration of an engine that gave up."""
_STOP_MARGIN = 2.0
"""Seconds an engine gets beyond its grace to close what it opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorSettings:
    """Durations in seconds."""

    heartbeat: float = 15.0
    """An engine that says nothing for this long hangs."""
    startup: float = 60.0
    """What an engine gets until its first heartbeat: a cold disk imports slowly."""
    healthy: float = 30.0
    """A life this long makes earlier crashes forgotten, and so does one in which work got on."""
    give_up_after: int = 5
    first_delay: float = 0.2
    """Back-off after the second crash in a row; doubles with each further one."""
    longest_delay: float = 30.0
    watched: Path | None = None
    """A file that others write: when it has grown, an engine that sleeps is started."""
    config: Path | None = None
    """What an engine reads when it starts: once it is another, one that gave up is tried again."""
    look: float = WALL_CLOCK_CHECK
    """Between two looks at it, at our own lock file and at our program."""
    orphan_grace: float = 2.0
    """What orphans of an earlier engine get between SIGTERM and SIGKILL."""
    takeover: float = 4.0
    """What an engine whose supervisor was killed gets to leave by itself."""


@dataclass(slots=True, kw_only=True)
class Supervisor:
    """One supervisor's life, from the lock to the last process."""

    locations: Locations
    listener: socket.socket
    lock: int
    """File descriptor of the single-instance lock."""
    command: EngineCommand
    settings: SupervisorSettings
    log: SupervisorLog
    awake: Awake
    goes_on: float = NOTHING
    """What an engine said last of when work goes on by itself."""
    engine: EngineProcess | None = None
    phase: Phase = Phase.STARTING
    crashes: int = 0
    problem: str = ""
    wake: float | None = None
    """Epoch seconds."""
    ahead: float = 0.0
    """The wall clock's lead over the steady one when the engine went to sleep; seconds."""
    lead: float = 0.0
    """Seconds that the last engine took to come up: the next one is started so much earlier."""
    deadline: float | None = None
    """Monotonic seconds: the next restart, or the end of a stop's grace."""
    signals: set[int] = field(default_factory=set)
    cramped: bool = False
    """The disk was full when the engine died: no reason to give up, and room for it is awaited."""
    seen: Trace = None
    """Size and time of the watched file when the engine went to sleep."""
    program: ProgramFiles = field(default_factory=ProgramFiles)
    read: tuple[Trace, ...] = ()
    """The same of the configuration and the program when the engine was started."""

    def run(self) -> None:
        """Supervise until a signal ends it. No process of ours is left afterwards."""
        wakeup = self._listen_to_signals()
        self.log.write(f"supervisor {os.getpid()} started, version {code_version()}")
        self._start_engine()
        while self.phase is not Phase.STOPPED:
            self._wait(wakeup)
            if not is_still(self.lock, self.locations.supervisor_lock):
                self._abandon()
                return
            if self.engine:
                self.engine.hear()
                self._check_engine(self.engine)
            self._obey()
            self._act()
            self._leave_if_removed()
            self._keep_awake()
        self._leave()

    # -- waiting

    def _wait(self, wakeup: socket.socket) -> None:
        watched: list[socket.socket] = [wakeup]
        if self.engine:
            watched.append(self.engine.control)
        if self.phase in {Phase.ASLEEP, Phase.GAVE_UP}:
            watched.append(self.listener)
        longest, begun = self._timeout(), time.monotonic()
        readable, _, _ = select.select(watched, [], [], longest)
        if self.engine and longest is not None and time.monotonic() > begun + longest + _OVERSLEPT:
            # We were stopped ourselves, and the engine with us: its silence begins now.
            self.engine.excuse()
        if wakeup in readable:
            self.signals.update(wakeup.recv(4096))
        if self.listener in readable:
            self._welcome()

    def _timeout(self) -> float | None:
        """Seconds until something must be looked at; None while only a visitor can matter."""
        if self.phase is Phase.ASLEEP:
            looks = [self.settings.look]
            if self.wake is not None:
                looks += [WALL_CLOCK_CHECK, max(0.0, self.wake - self.lead - time.time())]
            return min(looks, default=None)
        if self.phase is Phase.GAVE_UP:
            return _MENDED_CHECK if self.settings.config else None
        moments = [self.deadline] if self.deadline is not None else []
        if self.engine:
            moments.append(self._silence_ends(self.engine))
        elif self.cramped and self.phase is Phase.RESTARTING:
            moments.append(time.monotonic() + _ROOM_CHECK)
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _silence_ends(self, engine: EngineProcess) -> float:
        if engine.last_beat is None:
            return engine.started + self.settings.startup
        return engine.last_beat + self.settings.heartbeat

    def _welcome(self) -> None:
        if self.phase is Phase.ASLEEP:
            self._start_engine()
            return
        # Gave up: hang up, so that the client reads why in the status file.
        with suppress(OSError):
            self.listener.accept()[0].close()

    # -- the engine's life

    def _start_engine(self) -> None:
        self._clear_the_way()
        self.deadline = self.wake = None
        self.read = self.program.traces(self.settings.config)
        try:
            self.engine = EngineProcess.start(self.command, self.locations, self.listener)
        except OSError as error:
            self._crashed(f"the engine cannot be started: {error}")
            return
        if self.engine is None:
            self._crashed("another engine holds the lock")
            return
        self._enter(Phase.STARTING)

    def _leave_if_removed(self) -> None:
        gone = self.program.removed(2 * self.settings.look)
        if gone and self.phase in {Phase.ASLEEP, Phase.GAVE_UP}:
            self.log.write(f"supervisor {os.getpid()} leaves: '{gone}' was removed")
            self._enter(Phase.STOPPED)

    def _clear_the_way(self) -> None:
        """One engine at a time, and no run without an engine."""
        if is_held(self.locations.engine_lock):
            self._take_over()
        grace = timedelta(seconds=self.settings.orphan_grace)
        if orphans := processes.sweep(self.locations.data, grace):
            self.log.write(f"ended {orphans} processes that an earlier engine left")

    def _take_over(self) -> None:
        old = read_pid(self.locations.engine_lock)
        self.log.write(f"engine {old} of an earlier supervisor still lives; waiting for it")
        lock = hold(self.locations.engine_lock, wait=self.settings.takeover)
        if lock is None and old:
            kill_group(old)
            lock = hold(self.locations.engine_lock, wait=self.settings.takeover)
        if lock is not None:
            os.close(lock)

    def _check_engine(self, engine: EngineProcess) -> None:
        code = engine.process.poll()
        if code is not None:
            engine.hear()
            self._ended(engine, code)
        elif time.monotonic() >= self._silence_ends(engine):
            engine.kill_hung()
            self._ended(engine, None)
        elif self.phase is Phase.STARTING and engine.ready:
            self.lead = min(engine.ready - engine.started, _LONGEST_LEAD)
            if self.cramped:  # there is room again: its crashes say nothing of this engine
                self.cramped, self.crashes, self.problem = False, 0, ""
            self._enter(Phase.RUNNING)

    def _ended(self, engine: EngineProcess, code: int | None) -> None:
        """`code` as in `Popen.returncode`; None for one that was killed because it hung."""
        engine.close()
        self.goes_on = self.goes_on if engine.goes_on is None else engine.goes_on
        self.engine = None
        if self.phase is Phase.STOPPING:
            self._enter(Phase.STOPPED)
        elif code == 0 and engine.sleep is not None:
            self.crashes, self.problem, self.wake = 0, "", engine.wake()
            self.seen = trace(self.settings.watched)
            self.ahead = _ahead()
            self._enter(Phase.ASLEEP)
        else:
            self._forget_old_crashes(engine)
            # Trying again mends nothing when it never was ready and says what a person must do.
            is_hopeless = code == NEEDS_A_PERSON and not engine.ready
            self._crashed(self._obituary(engine, code), is_hopeless=is_hopeless)

    def _forget_old_crashes(self, engine: EngineProcess) -> None:
        lived = time.monotonic() - engine.ready if engine.ready else 0.0
        if engine.got_on or (engine.ready and lived >= self.settings.healthy):
            self.crashes = 0

    def _obituary(self, engine: EngineProcess, code: int | None) -> str:
        if code is None:
            cause = "hung and was killed"
        elif code < 0:
            cause = f"was ended by {signal.Signals(-code).name}"
        else:
            cause = f"ended with exit code {code}"
        words = tail(self.locations.engine_last_words, 40)
        for line in words:
            self.log.write(f"engine {engine.pid}: {line}")
        last = next((line.strip() for line in reversed(words) if line.strip()), "")
        if code == NEEDS_A_PERSON and last:
            return last
        return f"the engine {cause}" + (f": {last}" if last and code is not None else "")

    def _crashed(self, problem: str, *, is_hopeless: bool = False) -> None:
        self.crashes += 1
        self.problem = problem
        crowded = spent_disk(self.locations.data)
        self.cramped = crowded is not None
        if crowded is not None:
            self.problem = f"the disk is {crowded.described()} ({problem})"
        elif is_hopeless or self.crashes >= self.settings.give_up_after:
            # Claude must not go on working where nobody supervises it.
            processes.sweep(self.locations.data, timedelta(seconds=self.settings.orphan_grace))
            self._enter(Phase.GAVE_UP)
            self._tell_that_it_gave_up()
            return
        delay = 0.0
        if self.crashes > 1:
            doubled = self.settings.first_delay * 2 ** (self.crashes - 2)
            delay = min(doubled, self.settings.longest_delay)
        self.deadline = time.monotonic() + delay
        self._enter(Phase.RESTARTING)

    def _tell_that_it_gave_up(self) -> None:
        from perpetualcc.daemon.life import leave_sign  # noqa: PLC0415  # most never give up

        leave_sign(self.locations, Phase.GAVE_UP, detail=self.problem)

    def _act(self) -> None:
        """What the clock demands."""
        if self.phase is Phase.ASLEEP:
            is_time = self.wake is not None and time.time() >= self.wake - self.lead
            # Set back: the engine knows which of its times were only a while from then.
            is_time |= self.wake is not None and _ahead() < self.ahead - WALL_CLOCK_CHECK
            is_time |= trace(self.settings.watched) != self.seen
        else:
            is_time = self.deadline is not None and time.monotonic() >= self.deadline
        if self.phase is Phase.RESTARTING and self.cramped:
            is_time |= spent_disk(self.locations.data) is None
        if is_time and self.phase is Phase.STOPPING:
            self._stop_now()
        elif is_time and self.phase in {Phase.ASLEEP, Phase.RESTARTING}:
            self._start_engine()
        elif self.phase is Phase.GAVE_UP and self.program.traces(self.settings.config) != self.read:
            self.crashes, self.problem = 0, ""
            self._start_engine()

    # -- stopping

    def _listen_to_signals(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        return ours

    def _obey(self) -> None:
        signals, self.signals = self.signals, set()
        if signal.SIGUSR1 in signals:
            self._stop_now()
        elif signals & {signal.SIGTERM, signal.SIGINT} and self.phase is not Phase.STOPPING:
            self._stop_gracefully()

    def _stop_gracefully(self) -> None:
        grace = self._wanted_grace()
        self.locations.socket.unlink(missing_ok=True)
        if self.engine is None:
            self._enter(Phase.STOPPED)
            return
        self.deadline = time.monotonic() + grace + _STOP_MARGIN
        self._enter(Phase.STOPPING)
        self.engine.tell_to_stop(grace)

    def _wanted_grace(self) -> float:
        try:
            return max(0.0, float(read_regular(self.locations.grace, 100)))
        except (OSError, ValueError):
            return self.command.grace
        finally:
            with suppress(OSError):
                self.locations.grace.unlink()

    def _stop_now(self) -> None:
        if self.engine:
            note_halt(self.locations)
            self.engine.kill()
            self.engine.close()
            self.engine = None
        processes.sweep(self.locations.data, timedelta(seconds=1))
        self._enter(Phase.STOPPED)

    def _keep_awake(self) -> None:
        """Also while an engine sleeps, or comes back: what waits has none."""
        if self.engine and self.engine.goes_on is not None:
            self.goes_on = self.engine.goes_on
        is_over = self.phase in {Phase.GAVE_UP, Phase.STOPPING, Phase.STOPPED}
        self.awake.settle(NOTHING if is_over else self.goes_on)

    def _abandon(self) -> None:
        """
        Our place was removed, and another supervisor may have it already: touch nothing of it.

        The engine notices that we are gone, and ends by itself what it runs.
        """
        self.log.write(f"supervisor {os.getpid()} leaves: its lock file was removed")
        if self.engine:
            self.engine.control.close()
        self.awake.let_go()
        self.listener.close()

    def _leave(self) -> None:
        self.awake.close()
        self.locations.socket.unlink(missing_ok=True)
        self.listener.close()
        processes.sweep(self.locations.data, timedelta(seconds=1))

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        status = DaemonStatus(
            phase=phase,
            supervisor=os.getpid(),
            engine=self.engine.pid if self.engine else None,
            since=time.time(),
            wake=self.wake,
            crashes=self.crashes,
            problem=self.problem,
            version=code_version(),
        )
        with suppress(OSError):
            write_status(self.locations, status)
        details = f"engine {status.engine}" if self.engine else self.problem if self.crashes else ""
        self.log.write(f"{phase}{details and f': {details}'}")


def _ahead() -> float:
    """Grows while the machine sleeps, which stops the steady clock."""
    return time.time() - time.monotonic()


def main() -> None:
    """`python -m perpetualcc.daemon.supervisor`. Exits 0 when another one is there already."""
    arguments = _arguments()
    locations = Locations(data=arguments.data_dir)
    if (clean := for_a_daemon(os.environ, locations.programs)) != os.environ:
        # Whatever started it: a login, a script of somebody's.
        os.execve(sys.executable, sys.orig_argv, clean)  # noqa: S606  # the same command again
    try:
        locations.prepare()
        lock = hold(locations.supervisor_lock, wait=0.2)
        if lock is None:
            return
        offer_programs(locations.programs)
        listener = listen(locations)
        write_pid(lock, os.getpid())
        if arguments.detach:
            detach(locations)
    except PerpetualError as error:
        sys.exit(f"error: {error.message}\nhint:  {error.hint}")
    except OSError as error:
        where = f" '{error.filename}'" if error.filename else f" in '{arguments.data_dir}'"
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        hint = f"Make room near '{arguments.data_dir}'" if is_full else "Mend it, or see --data-dir"
        sys.exit(f"error: cannot write{where}: {error.strerror}\nhint:  {hint}")
    write_pid(lock, os.getpid())
    note_steering(locations, steering())
    log = SupervisorLog(path=locations.supervisor_log)
    Supervisor(
        locations=locations,
        listener=listener,
        lock=lock,
        command=EngineCommand(
            module=arguments.engine, idle_exit=arguments.idle_exit, grace=arguments.grace
        ),
        settings=SupervisorSettings(
            heartbeat=arguments.heartbeat,
            healthy=arguments.healthy,
            watched=arguments.watch,
            config=config_path(),
            look=arguments.look,
        ),
        log=log,
        awake=Awake(note=locations.awake, log=log.write),
    ).run()


def _arguments() -> argparse.Namespace:
    command, settings = EngineCommand(), SupervisorSettings()
    parser = argparse.ArgumentParser(prog="perpetualcc.daemon.supervisor", description=__doc__)
    parser.add_argument("--data-dir", type=lambda text: Path(text).absolute(), required=True)
    parser.add_argument("--detach", action="store_true", help="go on in the background")
    parser.add_argument("--engine", default=command.module, help="module to run as the engine")
    parser.add_argument("--idle-exit", type=float, default=command.idle_exit)
    parser.add_argument("--grace", type=float, default=command.grace)
    parser.add_argument("--heartbeat", type=float, default=settings.heartbeat)
    parser.add_argument("--healthy", type=float, default=settings.healthy)
    parser.add_argument(
        "--watch", type=Path, default=Places(claude=claude_directory()).queue,
        help="a file whose growth wakes the engine",
    )  # fmt: skip
    parser.add_argument("--look", type=float, default=settings.look)
    return parser.parse_args()


if __name__ == "__main__":
    main()
