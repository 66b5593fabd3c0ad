"""What `pcc doctor` looks at: what is needed to work at all, and what is good to have."""

import os
import shlex
import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from perpetualcc import __version__, config
from perpetualcc.brain.factory import open_model
from perpetualcc.brain.settings import BrainType
from perpetualcc.claude.binary import chosen_claude, signed_in_with
from perpetualcc.claude.completion import ClaudeCompletion
from perpetualcc.claude.layers import why_no_sandbox
from perpetualcc.cli.awake import awake_findings
from perpetualcc.cli.look import one_line
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.takeover import not_taken_over
from perpetualcc.cli.unreached import REMEDY, described, unreached
from perpetualcc.config.file import Config, load_config
from perpetualcc.daemon.disk import spent_disk
from perpetualcc.daemon.state import (
    Phase,
    has_lost_its_socket,
    is_held,
    read_status,
    steered_by,
    steered_otherwise,
)
from perpetualcc.daemon.units import unit_for_this_system
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.version import code_version
from perpetualcc.human.notifications.post import MISSING
from perpetualcc.learning.install import trouble_with_hooks
from perpetualcc.learning.places import Places
from perpetualcc.permissions.settings import SandboxMode

_UNKEPT = "CLAUDE_CODE_SKIP_PROMPT_HISTORY"
"""Claude Code's word for leaving no transcripts."""

Finding = tuple[bool, str]
"""Whether it is well, and what it is."""


def what_is_needed(places: Locations) -> Iterator[Finding]:
    """Everything without which nothing can work."""
    yield True, f"PerpetualCC {__version__}"
    settings, mistake = _settings()
    yield not mistake, mistake or f"Configuration: {config.config_path()}"
    yield from _claude(settings, _unknown_to_the_daemon(places))
    yield from _brain(settings)
    yield _data(places)
    yield _database(places)
    yield _daemon(places)
    if settings.permissions.sandbox is SandboxMode.ON:
        yield _sandbox()


def what_is_good_to_have(options: GlobalOptions) -> Iterator[Finding]:
    """What work goes on without, with less behind it."""
    runs = read_status(options.locations).phase is not Phase.STOPPED
    if runs:
        with suppress(PerpetualError):  # a mistake in the settings is told above
            yield from ((False, f"{what}: {note}") for what, note in not_taken_over(options))
    yield from _conversations()
    yield from _policies(options.locations)
    if trouble := trouble_with_hooks(Places(claude=config.claude_directory())):
        yield False, f"Learning: {trouble}"
    settings, _ = _settings()
    known = {*config.environment(), *(steered_by(options.locations) if runs else ())}
    yield from _notifications(settings, known)
    with suppress(PerpetualError):  # a mistake in the settings is told above
        for one in unreached(options.locations):
            yield False, f"Notifications: {described(one)}; {REMEDY}"
    yield from awake_findings(options.locations, is_wanted=settings.daemon.keep_awake)
    if settings.permissions.sandbox is not SandboxMode.ON:
        is_well, text = _sandbox()
        yield is_well, text if is_well else f"{text} (work goes on without)"


def _settings() -> tuple[Config, str]:
    """The settings, or their defaults and what is wrong with the file."""
    try:
        return load_config(), ""
    except PerpetualError as error:
        return Config(), _told(error)


def _unknown_to_the_daemon(places: Locations) -> list[str]:
    """Variables that are set here, and not where the daemon that runs was started."""
    if read_status(places).phase is Phase.STOPPED:
        return []
    known = steered_by(places)
    return [one for one in steered_otherwise(places, config.steering()) if one not in known]


def _claude(settings: Config, unknown: Sequence[str] = ()) -> Iterator[Finding]:
    """`unknown`: variables that Claude Code has here, and not in the daemon, which runs it."""
    try:
        binary = chosen_claude(settings.claude.path)
    except PerpetualError as error:
        yield False, _told(error)
        return
    yield True, f"Claude Code: {binary}"
    match signed_in_with(binary):
        case "":
            yield False, "Not signed in to Claude: pcc login (or set ANTHROPIC_API_KEY)"
        case str(manner) if unknown and signed_in_with(binary, without=unknown) == "":
            yield (
                False,
                (
                    f"Signed in to Claude: only this terminal is ({manner}); the daemon, which does"
                    f" the work, was started without your {', '.join(unknown)}: pcc daemon restart"
                ),
            )
        case str(manner):
            yield True, f"Signed in to Claude: {manner}"


def _brain(settings: Config) -> Iterator[Finding]:
    """Whether sessions can have the brain that is chosen; nothing is sent anywhere."""
    kind = settings.brain.type
    if kind is BrainType.NONE:
        return
    try:
        open_model(settings.brain, environment=config.environment(), open_claude=ClaudeCompletion)
    except PerpetualError as error:
        yield False, f"Brain: {_told(error)}"
    else:
        yield True, f"Brain: {kind}"


def _notifications(settings: Config, known: Container[str]) -> Iterator[Finding]:
    """Whether messages can leave; `known` are the variables here and in the daemon."""
    told = settings.notifications
    if not (told.enabled and told.urls):
        return
    names = [url.removeprefix("env:") for url in told.urls if url.startswith("env:")]
    unset = [name for name in names if name not in known]
    if unset:
        what = f"{', '.join(unset)} not set, so nothing is sent there"
        yield False, f"Notifications: {what}; export it, then: pcc daemon restart"
    if find_spec("apprise") is None:
        yield False, f"Notifications: {MISSING}"


def _data(places: Locations) -> Finding:
    """Whether what happens can be kept. Makes nothing that stays."""
    place, why = _place_to_write(places.data)
    if why is not None:
        return False, f"Data directory: '{place}' cannot be written{why or '; see --data-dir'}"
    if space := spent_disk(place):
        return False, f"Data directory: the disk of '{place}' is {space.described()}"
    if trouble := _in_the_way(places):
        return False, f"Data directory: {trouble}"
    return True, f"Data directory: {places.data}"


def _in_the_way(places: Locations) -> str:
    """What keeps the daemon from beginning, in the words for a person; empty when nothing does."""
    try:
        places.refuse_long_socket()
    except PerpetualError as error:
        return _told(error)
    folders, files = (
        (places.run_dir, places.logs_dir),
        (places.supervisor_lock, places.engine_lock),
    )
    for kind, paths, is_one in (("directory", folders, Path.is_dir), ("file", files, Path.is_file)):
        for path in paths:
            if os.path.lexists(path) and not is_one(path):
                return f"'{path}' is no {kind}; move it away, and the daemon makes one"
    for place in folders:
        if place.is_dir() and not os.access(place, os.W_OK | os.X_OK):
            return f"'{place}' cannot be written; try: chmod u+rwx {shlex.quote(str(place))}"
    return ""


def _policies(places: Locations) -> Iterator[Finding]:
    """Mistakes in the policies of the project it is called in, and of those that are worked in."""
    from perpetualcc.permissions.project import policy_mistakes
    from perpetualcc.store.recorded import open_sessions

    projects = [Path.cwd()]
    with suppress(PerpetualError):  # a database that cannot be read is told above
        projects += [project for _, _, project in open_sessions(places.database)]
    mistakes = (one for project in projects for one in policy_mistakes(project))
    yield from ((False, f"Policy: {one_line(one)}") for one in dict.fromkeys(mistakes))


def _conversations() -> Iterator[Finding]:
    """Claude Code keeps them, and says nothing where it cannot."""
    place, why = _place_to_write(config.claude_directory())
    cause = "" if why is None else f"'{place}' cannot be written{why}"
    if not cause and (space := spent_disk(place)):
        cause = f"the disk of '{place}' is {space.described()}"
    if config.environment().get(_UNKEPT, "").lower() not in {"", "0", "false"}:
        cause = f"{_UNKEPT} is set"
    if cause:
        told = f"Conversations: {cause}, so Claude Code keeps none"
        yield False, f"{told}: what waited begins a fresh one, with what is on record"


def _place_to_write(wanted: Path) -> tuple[Path, str | None]:
    """The directory, or its first parent that is there, and why it cannot be written; or None."""
    place = next(one for one in (wanted, *wanted.parents) if one.exists())
    try:
        if not os.access(place, os.W_OK | os.X_OK):
            return place, ""
        if place == wanted:
            with tempfile.TemporaryFile(dir=place) as file:
                file.write(b"\0" * 4096)
    except OSError as error:
        return place, f": {error.strerror}"
    return place, None


def _database(places: Locations) -> Finding:
    from perpetualcc.store.inspection import trouble_of

    if not places.database.exists():
        if is_held(places.engine_lock):
            said = "Database: removed while it is in use; put it back, or: pcc daemon restart"
            return False, said
        return True, "Database: none yet"
    if trouble := trouble_of(places.database):
        return False, _told(trouble)
    return True, f"Database: {places.database.name}"


def _daemon(places: Locations) -> Finding:
    found = read_status(places)
    if found.phase is Phase.GAVE_UP:
        return False, f"Daemon: gave up: {found.problem}; try again with: pcc daemon restart"
    if found.phase is Phase.RESTARTING and found.problem:
        return False, f"Daemon: restarting: {found.problem}"
    if has_lost_its_socket(places, found):
        return False, "Daemon: out of reach, its socket was removed: pcc daemon restart"
    if found.version and found.version != code_version():
        what = f"{found.phase.value}, of another version than this command"
        return False, f"Daemon: {what}; to take this one over: pcc daemon restart"
    unit = unit_for_this_system(
        places, home=Path.home(), config=config.user_configuration(), variables={}
    )
    alone = "; a restart of the machine ends it: pcc daemon install"
    return True, f"Daemon: {found.phase.value}{'' if unit.path.exists() else alone}"


def _sandbox() -> Finding:
    missing = why_no_sandbox()
    return not missing, f"Sandbox: {missing or 'available'}"


def _told(error: PerpetualError) -> str:
    return f"{error.message}{f'; {error.hint}' if error.hint else ''}"
