"""
Pushes a worktree's branch, for those who merge by pull requests, and forces nothing.

An agent can have written the repository's own settings: no program that they name is run, they
change neither the address nor what keeps it safe, and the address is shown before.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import PushBegan, PushDone
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.texts import counted
from perpetualcc.sessions.snapshots.changes import commits
from perpetualcc.sessions.snapshots.repository import GitError, Patience, Repository
from perpetualcc.sessions.worktrees.accepting import (
    Wish,
    all_committed,
    not_committed,
    refuse_unready,
)
from perpetualcc.sessions.worktrees.meant import Meant, in_git
from perpetualcc.sessions.worktrees.merging import first_of

NOTHING_DONE = "Nothing was pushed"
_PATIENCE = Patience(seconds=900.0)
_NOT_OURS = (
    r"^core\.(sshcommand|gitproxy|askpass)$|^credential\.|^ssh\.|^url\.|^protocol\."
    r"|^remote\..*\.(receivepack|uploadpack|vcs|proxy|proxyauthmethod)$"
    r"|^http\.(.*\.)?(proxy.*|ssl.*|curloptresolve|delegation|emptyauth|savecookies|cookiefile)$"
)
"""What names programs, hands over what is secret, or leads elsewhere."""
_ALLOWED = ("file", "http", "https", "ssh")
_OPENLY = tuple(word for one in _ALLOWED for word in ("-c", f"protocol.{one}.allow=always"))
_PLAIN = (
    *("--porcelain", "--no-progress", "--no-verify", "--no-follow-tags", "--no-signed"),
    *("--no-force", "--no-mirror", "--recurse-submodules=no"),
)
_PERSONS = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS")
"""Variables of the person's, who names the programs by which they come in."""
_PROGRAMS = re.compile(r"hook|command|include|fsmonitor|program|helper|alternate")
_MOST_TOLD = 20
"""Lines of what the remote answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a branch is pushed to."""

    remote: str
    url: str

    @property
    def shown(self) -> str:
        """Without a name and a password."""
        return re.sub(r"(?<=://)[^/@]*@", "", self.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """What would be pushed."""

    found: Meant
    wish: Wish
    fresh: tuple[str, ...]
    """Files that would be committed first."""
    to: Address

    @property
    def question(self) -> str:
        tree = self.found.tree
        many = counted(len(commits(tree.here, tree.onto, tree.head)), "commit")
        also = f", and {counted(len(self.fresh), 'file')} committed first" if self.fresh else ""
        return f"Push {tree.branch} ({many}{also}) to {self.to.remote}, {self.to.shown}?"

    def told(self, kind: type[PushBegan] | type[PushDone]) -> PushBegan | PushDone:
        """For the log."""
        tree = self.found.tree
        return kind(
            session=SessionId(self.found.id),
            branch=tree.branch,
            remote=self.to.remote,
            address=self.to.shown,
            commit=tree.head,
        )


def push_of(found: Meant, folder: Path, wish: Wish, remote: str) -> Push:
    """
    `remote`: its name; empty: that of the main branch's upstream, else `origin`.

    Raises PerpetualError, with the way out: it cannot be pushed as it is.
    """
    refuse_unready(found)
    fresh, _ = not_committed(found, folder, wish)
    to = _address(found, remote)
    return Push(found=found, wish=wish, fresh=tuple(fresh), to=to)


def committed(push: Push, folder: Path) -> Push:
    """What was to be committed first is. Raises PerpetualError."""
    found = all_committed(push.found, push.fresh, push.wish, folder, NOTHING_DONE)
    return replace(push, found=found)


def pushed(push: Push) -> tuple[str, ...]:
    """
    The lines that the remote answers.

    Raises GitError: it refuses, or cannot be reached. Again is harmless.
    """
    tree = push.found.tree
    own = tuple((name, os.environ[name]) for name in _PERSONS if name in os.environ)
    main = replace(tree.main, patience=_PATIENCE.begun(), variables=(*tree.main.variables, *own))
    spec = f"{tree.head}:refs/heads/{tree.branch}"
    # To what was shown, whatever the remote's settings are by now.
    done = main.asked(*_OPENLY, "push", *_PLAIN, "--", push.to.url, spec)
    said = done.stderr.decode("utf-8", "replace").splitlines()
    answer = tuple(one.removeprefix("remote:").strip() for one in said if one[:7] == "remote:")
    if done.returncode != 0:
        why = _refusal(done.stdout.decode("utf-8", "replace")) or _complaint(said)
        told = "; ".join([why, *filter(None, answer)][:_MOST_TOLD])
        raise GitError(f"{NOTHING_DONE}: {told}", hint=f"By hand: {_by_hand(push.found, push.to)}")
    return tuple(one for one in answer if one)[:_MOST_TOLD]


def _refusal(told: str) -> str:
    """`! SPEC  [rejected] (fetch first)`: git's porcelain."""
    lines = (line.split("\t") for line in told.splitlines() if line.startswith("!"))
    return next((line[-1] for line in lines), "")


def _complaint(said: list[str]) -> str:
    words = [one for one in said if not one.startswith(("remote:", "hint:"))]
    return first_of("; ".join(words)) or "git push fails and does not say why"


def _by_hand(found: Meant, to: Address) -> str:
    return in_git(found.tree.place, f"push {to.remote} HEAD")


def _address(found: Meant, remote: str) -> Address:
    main = found.tree.main
    name = remote or _upstream(main, found.tree.target)
    names = os.fsdecode(main.git("remote")).splitlines()
    if name not in names:
        raise PerpetualError(
            f"{NOTHING_DONE}: no remote is called {name!r}",
            hint=f"See them: {in_git(main.top, 'remote -v')}",
        )
    _refuse_foreign_settings(found, name)
    told = main.git("remote", "get-url", "--push", "--all", name)
    urls = os.fsdecode(told).splitlines()
    if len(urls) != 1:
        raise PerpetualError(f"{NOTHING_DONE}: {name!r} has {counted(len(urls), 'address')}")
    place = _folder_of(urls[0], main.top)
    is_path = place is not None and not urls[0].startswith("file://")
    to = Address(remote=name, url=str(place) if is_path else urls[0])
    if to.url in names:  # git would take it for that one
        raise PerpetualError(f"{NOTHING_DONE}: a remote is called as the address of {name!r}")
    if place is not None:
        _refuse_programs_there(found, to, place)
    return to


def _upstream(main: Repository, branch: str) -> str:
    told = main.asked("config", "--get", f"branch.{branch}.remote").stdout
    name = os.fsdecode(told).strip()
    return "origin" if name in {"", "."} else name


def _refuse_foreign_settings(found: Meant, remote: str) -> None:
    main = found.tree.main
    words = ("config", "--show-scope", "--name-only", "--null", "--get-regexp", _NOT_OURS)
    listed = os.fsdecode(main.asked(*words).stdout).split("\0")
    pairs = zip(listed[::2], listed[1::2], strict=False)
    if names := sorted({name for scope, name in pairs if scope in {"local", "worktree"}}):
        raise PerpetualError(
            f"{NOTHING_DONE}: this repository's own settings say how, and an agent may have"
            f" written them: {', '.join(names)}",
            hint=f"Look, then do it by hand: {in_git(found.tree.place, f'push {remote} HEAD')}",
        )


def _refuse_programs_there(found: Meant, to: Address, place: Path) -> None:
    """A remote that is a folder runs its hooks on this machine, whoever wrote them."""
    git = next((one for one in (place / ".git", place) if (one / "HEAD").is_file()), place)
    if names := sorted({*_hooks(git), *_programs(found.tree.main, git)}):
        raise PerpetualError(
            f"{NOTHING_DONE}: '{place}' would run programs on this machine: {', '.join(names)}",
            hint=f"Look, then do it by hand: {_by_hand(found, to)}",
        )


def _folder_of(url: str, top: Path) -> Path | None:
    if url.startswith("file://"):
        return Path("/" + unquote(url.removeprefix("file://").partition("/")[2]))
    has_host = "://" in url or ":" in url.partition("/")[0]
    return None if has_host else top / url


def _hooks(git: Path) -> Iterator[str]:
    folder = git / "hooks"
    for one in folder.iterdir() if folder.is_dir() else ():
        if one.suffix != ".sample":
            yield f"hooks/{one.name}"


def _programs(main: Repository, git: Path) -> Iterator[str]:
    words = ("config", "--file", str(git / "config"), "--no-includes", "--name-only", "--list")
    done = main.asked(*words)
    if done.returncode != 0:
        raise GitError(f"{NOTHING_DONE}: '{git}' is no repository that can be read")
    names = done.stdout.decode("utf-8", "replace").splitlines()
    yield from (one for one in names if _PROGRAMS.search(one.casefold()))
