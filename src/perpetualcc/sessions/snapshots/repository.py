"""
Git, asked about a project's files by way of a private index: HEAD, branches, the person's own
index, the stash and the working tree stay as they are. No program that the repository names is run.
"""

import os
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import IO, Any, cast

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.git import GIT, OWN_FILTERS, git_environment, without_filters
from perpetualcc.domain.texts import cut, first_line
from perpetualcc.domain.times import duration

_GIT = (
    *(*GIT, "--no-pager", "-c", "gc.auto=0", "-c", "core.safecrlf=false"),
    *("-c", "log.showSignature=false", "-c", "submodule.recurse=false"),
    # What is on the disk counts, whatever a sparse checkout shows or nobody is to look at.
    *("-c", "core.sparseCheckout=false", "-c", "core.ignoreStat=false"),
)
_PLAIN = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
    **{f"GIT_{who}_NAME": "PerpetualCC" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "pcc@localhost" for who in ("AUTHOR", "COMMITTER")},
}
REFS = "refs/pcc/"
"""Below it every ref is ours, and none elsewhere."""
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
"""Of a path in git's quotes."""
_BREATH = 0.2
"""Seconds."""


class GitError(PerpetualError):
    """Git cannot, or may not, do what a snapshot needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long git may take, in all: a huge repository holds nobody up for ever."""

    seconds: float = 120.0
    until: float = field(default=0.0)
    """Monotonic seconds."""
    given_up: threading.Event = field(default_factory=threading.Event)
    """Set by whoever does not want it any more: git is ended then."""

    def begun(self) -> "Patience":
        return replace(self, until=time.monotonic() + self.seconds)

    @property
    def is_over(self) -> bool:
        return self.given_up.is_set() or time.monotonic() > self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """The repository that a project is in."""

    top: Path
    """Of its working tree: what names are relative to."""
    prefix: str = ""
    """The project in it, such as `api/`; others may be at work in the rest. Empty: it is all."""
    patience: Patience = field(default_factory=lambda: Patience().begun())
    variables: tuple[tuple[str, str], ...] = ()
    held: tuple[int, ...] = ()
    """Descriptors that git keeps open, too: a lock on one stays until git has ended."""

    @property
    def here(self) -> tuple[str, ...]:
        """The words for git that leave out what is beside the project."""
        return ("--", self.prefix) if self.prefix else ()

    def using(self, index: Path) -> "Repository":
        """The same, with a private index."""
        return replace(self, variables=(*self.variables, ("GIT_INDEX_FILE", str(index))))

    def writing_to(self, folder: Path) -> "Repository":
        """The same, whose new objects leave no trace in the repository."""
        (folder / "info").mkdir(parents=True, exist_ok=True)
        # Not by a variable: in that a colon would end the path.
        objects = self.absolute("objects").translate(_ESCAPED)
        (folder / "info" / "alternates").write_bytes(b'"%s"\n' % os.fsencode(objects))
        told = ("GIT_OBJECT_DIRECTORY", str(folder))
        return replace(self, variables=(*self.variables, told))

    def absolute(self, name: str) -> str:
        """Where git keeps a file of its own, for this working tree."""
        return str(self.top / os.fsdecode(self.git("rev-parse", "--git-path", name)[:-1]))

    def git(self, *words: str, given: bytes | None = None) -> bytes:
        """What it prints. Raises GitError, in git's own words."""
        return self.done(*words, given=given).stdout

    def done(self, *words: str, given: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
        """The same, with what it complains of."""
        done = self.asked(*words, given=given)
        if done.returncode != 0:
            raise GitError(f"git {words[0]}: {_own_words(done.stderr)}")
        return done

    def asked(
        self, *words: str, given: bytes | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        """Raises GitError: it cannot be run, or takes too long."""
        with self._started(words) as process:
            out, err = self._talk(process, given or b"")
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def beginning(self, *words: str, most: int) -> tuple[bytes, bool]:
        """
        At most so many bytes of what it prints, and whether there are more: then it is ended.

        Raises:
            GitError: it fails, or takes too long.
        """
        with self._started(words) as process:
            found = self._read(cast("IO[bytes]", process.stdout), most + 1)
            if len(found) > most:
                _end(process)
                return found[:most], True
            _, err = self._talk(process, b"")
        if process.returncode != 0:
            raise GitError(f"git {words[0]}: {_own_words(err)}")
        return found, False

    @contextmanager
    def _started(self, words: Sequence[str]) -> Iterator["subprocess.Popen[bytes]"]:
        """It does not outlive its use."""
        try:
            process = subprocess.Popen(
                [*_GIT, *words],
                cwd=self.top,
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # no terminal to ask anything at
                pass_fds=self.held,
            )
        except OSError as error:
            why = "is not installed" if Path(self.top).is_dir() else f"finds no '{self.top}'"
            raise GitError(
                f"git {why}" if isinstance(error, FileNotFoundError) else str(error)
            ) from error
        with process:
            try:
                yield process
            except BaseException:
                _end(process)
                raise

    def shown(self, words: Sequence[str], out: IO[Any]) -> None:
        """What it prints goes there, however long that takes. Raises GitError."""
        done = subprocess.run(
            [*_GIT, *words],
            cwd=self.top,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode > 0:
            raise GitError(f"git {words[0]}: {_own_words(done.stderr)}")

    def _environment(self) -> dict[str, str]:
        return git_environment(self.top) | _PLAIN | dict(self.variables)

    def _talk(self, process: "subprocess.Popen[bytes]", given: bytes) -> tuple[bytes, bytes]:
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(given, _BREATH)
        while not self.patience.is_over:
            with suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=_BREATH)
        raise self._too_long()

    def _read(self, out: IO[bytes], most: int) -> bytes:
        found = bytearray()
        with DefaultSelector() as ready:
            ready.register(out, EVENT_READ)
            while len(found) < most:
                if self.patience.is_over:
                    raise self._too_long()
                if not ready.select(_BREATH):
                    continue
                if not (chunk := os.read(out.fileno(), most - len(found))):
                    break
                found += chunk
        return bytes(found)

    def _too_long(self) -> GitError:
        return GitError(f"git takes longer than {duration(self.patience.seconds)}")

    def names(self, *words: str) -> Iterator[str]:
        """What it lists with `-z`."""
        return (os.fsdecode(name) for name in self.git(*words).split(b"\0") if name)

    def ignored(self, names: Iterable[str], *where: str) -> frozenset[str]:
        """
        Which of these names, from the top, git ignores, were they new; `where`: options of git's.

        Raises GitError: to take them for not ignored would be to lose them.
        """
        # It knows no literal names, and of one that begins so it reads no pattern.
        given = joined(f"./{name}" for name in names)
        words = (*where, "check-ignore", "--no-index", "-z", "--stdin")
        plain = replace(self, variables=(*self.variables, ("GIT_LITERAL_PATHSPECS", "0")))
        done = plain.asked(*words, given=given)
        if done.returncode not in {0, 1}:
            raise GitError(f"git check-ignore: {_own_words(done.stderr)}")
        told = (os.fsdecode(name) for name in done.stdout.split(b"\0") if name)
        return frozenset(name.removeprefix("./") for name in told)

    def head(self) -> str:
        """The commit that is checked out; empty: there is none yet."""
        done = self.asked("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return done.stdout.decode().strip()

    def branch(self) -> str:
        """The one that is checked out; empty: none is."""
        done = self.asked("symbolic-ref", "--quiet", "--short", "HEAD")
        return os.fsdecode(done.stdout).removesuffix("\n")


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, 9)


def repository_of(project: Path, patience: Patience | None = None) -> Repository | None:
    """
    None: it is in no git repository, or the one it is in ignores all of it.

    Raises:
        GitError: git is not there, refuses, or the repository's own settings name programs that
            change what is read from its files.
    """
    here = Repository(top=project, patience=(patience or Patience()).begun())
    if not _is_inside(here):
        return None
    # One by one: a folder may have a line break in its name.
    top, prefix = (
        os.fsdecode(here.git("rev-parse", word)).removesuffix("\n")
        for word in ("--show-toplevel", "--show-prefix")
    )
    found = replace(here, top=Path(top), prefix=prefix)
    if not project.samefile(found.top / prefix):
        raise GitError("This repository's own settings lead to another working tree")
    check_filters(found)
    return found


def there(top: str, prefix: str, patience: Patience | None = None) -> Repository:
    """
    As `repository_of`, of a project that was found before, and may be gone by now.

    Raises:
        GitError: it is no repository any more, or git refuses.
    """
    found = Repository(top=Path(top), prefix=prefix, patience=(patience or Patience()).begun())
    told = os.fsdecode(found.git("rev-parse", "--show-toplevel")).removesuffix("\n")
    if not found.top.samefile(told):
        raise GitError(f"'{top}' is no repository of its own any more")
    check_filters(found)
    return found


def _is_inside(here: Repository) -> bool:
    """In its working tree, and not ignored altogether: as another project's folder is."""
    done = here.asked("rev-parse", "--is-inside-work-tree")
    if done.returncode != 0 and b"not a git repository" not in done.stderr:
        raise GitError(_own_words(done.stderr))
    if done.stdout.strip() != b"true":
        return False
    plain = replace(here, variables=(("GIT_LITERAL_PATHSPECS", "0"),))
    return plain.asked("check-ignore", "--quiet", ".").returncode != 0


def check_filters(repository: Repository) -> None:
    """
    Raises GitError where the repository's own settings name filters (git-crypt, `git lfs install
    --local`): they are not run for anybody, and without them the files are other ones.
    """
    asked = repository.asked(*OWN_FILTERS)
    if asked.returncode not in {0, 1}:  # none is named: 1
        raise GitError("Git is too old to say whose filters are named: 2.26 is needed")
    if without_filters(asked.stdout.decode("utf-8", "surrogateescape")) != ():
        raise GitError("This repository's own settings name filters, which are programs")


def _own_words(said: bytes) -> str:
    line = first_line(said.decode("utf-8", "replace"))
    for word in ("fatal: ", "error: "):
        line = line.removeprefix(word)
    return cut(line, 200) or "it fails and does not say why"


def joined(names: Iterable[str]) -> bytes:
    """Names as git takes them with `-z`."""
    return b"".join(os.fsencode(name) + b"\0" for name in names)


def batches(names: Sequence[str], most: int = 1000) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), most):
        yield names[start : start + most]
