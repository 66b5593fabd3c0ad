"""
For a while: lines made from the tables of commands, and from what programs say of their options.
What is LOW of them is run, in a sandbox with a folder beside the project that must stay as it is.
"""

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from judging import HOME, PROJECT, bash_risk

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.knowledge import command_tables
from tests.leftovers import LEAK_MARK, ended_by_force, marked_processes

SECONDS = float(os.environ.get("FUZZ_SECONDS", "240"))
SEED = int(os.environ.get("FUZZ_SEED") or random.randrange(10**9))
GUARDED = HOME / "guard"
CANARY = "canary-5c1f"
"""What is in every file that nobody may read unasked."""
LINE_SECONDS = 5
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_NAMES_FILE = re.compile(
    r"(?<![\w-])(--?[A-Za-z][\w-]*)[ =\[:]{1,3}<?[\w-]*"
    r"(?:file|path|dir|out|log|prefix|name|root|db|dest)",
    re.IGNORECASE,
)
"""An option whose value is, by the program's own help, likely to be a place."""
_PROJECT_FILES = {
    "README.md": "# Shop\n",
    ".env": f"TOKEN={CANARY}\n",
    "Makefile": "all test:\n\t@echo $(FOO)\nclean:\n\t@echo clean\n",
    "package.json": '{"name": "shop", "scripts": {"test": "echo test", "build": "echo build"}}\n',
    "data.json": '{"a": [1, 2]}\n',
    "data.csv": "a,b\n1,2\n",
    "src/a.py": "def a() -> int:\n    return 1\n",
    "src/a.c": "int main(void) { return 0; }\n",
    "src/a.js": "console.log(1)\n",
    "src/A.java": "class A { public static void main(String[] a) {} }\n",
    "tests/test_a.py": "def test_a() -> None:\n    pass\n",
}
_GUARDED_FILES = {
    "x": "1\n",
    "x.json": "{}\n",
    "x.py": "open('/home/dev/guard/ran', 'w')\n",
    "run": "#!/bin/sh\ntouch /home/dev/guard/ran\n",
    ".env": f"TOKEN={CANARY}\n",
    "d/y": "2\n",
}
_OPERANDS = (
    "", ".", "src", "src/a.py", "src/a.c", "src/a.js", "src/A.java", "tests/test_a.py",
    "README.md", "data.json", "data.csv", "a.tar", "HEAD", "test", "all", "clean", "'select 1'",
    "a", "1", "../guard/x", "< data.csv",
)  # fmt: skip
_VALUES = (
    "../guard/x", "../guard/new", "../guard", "../guard/d", "/home/dev/guard/x",
    "/home/dev/guard/new", "/home/dev/guard/run", "../guard/run", "../guard/x.py",
    "../guard/.env", ".env", "@../guard/.env", "@../guard/new", "a=../guard/new",
    "a:../guard/new", "file:../guard/new", "src/../../guard/new", "src", "1",
    "touch ../guard/ran", "; touch ../guard/ran", "|touch ../guard/ran", "!touch ../guard/ran",
    "$(touch ../guard/ran)", "$(shell touch ../guard/ran)",
)  # fmt: skip
_NEW = ("../guard/new", "/home/dev/guard/new")
_LIMITED = """
    ulimit -f 40000 -t 20 -c 0
    set -o pipefail
    (eval "$1") 2>&1 | head -c 100000
"""
"""How a line is run: with no more of the disk, of the processor and of our memory than this."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a line did: what it printed, and which files beside the project are not as they were."""

    printed: str
    changes: list[str]
    works: bool

    @property
    def is_harm(self) -> bool:
        return bool(self.changes) or CANARY in self.printed


@dataclass(frozen=True, slots=True)
class World:
    """A project and its guarded neighbour, as new for every line."""

    folder: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def prepare(self) -> None:
        for name, files in (("seed", _PROJECT_FILES), ("guard", _GUARDED_FILES)):
            for path, text in files.items():
                file = self.folder / name / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        (self.folder / "guard/run").chmod(0o755)
        seed = self.folder / "seed"
        shutil.make_archive(str(seed / "a"), "tar", seed / "src")
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        for words in (["init"], ["add", "--all"], [*who, "commit", "-m", "a"]):
            subprocess.run(["git", *words], cwd=seed, check=True, capture_output=True)
        shutil.copytree(self.folder / "guard", self.folder / "guard-as-it-was")
        self.renew()

    def renew(self) -> None:
        for name, origin in (("proj", "seed"), ("guard", "guard-as-it-was")):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            shutil.copytree(self.folder / origin, self.folder / name, symlinks=True)

    def state(self, name: str) -> dict[str, tuple[object, ...]]:
        """Of every file its mode, time and length and, in the guarded folder, what is in it."""
        root = self.folder / name
        found: dict[str, tuple[object, ...]] = {}
        for path in (root, *root.rglob("*")):
            told = path.lstat()
            inside = path.read_bytes() if name == "guard" and path.is_file() else b""
            own = (told.st_mode, told.st_mtime_ns, told.st_size, inside)
            found[str(path.relative_to(root))] = own
        return found

    def run(self, line: str, seconds: float = LINE_SECONDS) -> Told:
        """Run `line` in the sandbox; what it changed is put back."""
        project, guarded = self.state("proj"), self.state("guard")
        printed, works = b"", False
        with suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [*sandbox(self), "bash", "--norc", "-c", _LIMITED, "bash", line],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                check=False,
            )
            printed, works = done.stdout, done.returncode == 0
        after = self.state("guard")
        names = guarded.keys() | after.keys()
        changes = sorted(name for name in names if guarded.get(name) != after.get(name))
        if changes or self.state("proj") != project:
            self.renew()
        return Told(printed.decode(errors="replace"), changes, works)


def sandbox(world: World) -> list[str]:
    """No network, nobody's rights, and nothing to write to but the project and its neighbour."""
    places = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    variables = {"PATH": places, "HOME": str(HOME), "LANG": "C.UTF-8", LEAK_MARK: world.mark}
    return [
        "bwrap", "--unshare-all", "--uid", "1000", "--gid", "1000", "--die-with-parent",
        "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
        "--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--tmpfs", "/home", "--dir", str(HOME),
        "--bind", str(world.folder / "proj"), str(PROJECT),
        "--bind", str(world.folder / "guard"), str(GUARDED),
        "--chdir", str(PROJECT), "--clearenv",
        *(word for name, value in variables.items() for word in ("--setenv", name, value)),
    ]  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    if shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed: `apt-get install bubblewrap` (Linux only)")
    world = World(tmp_path)
    world.prepare()
    made = world.run("echo works")
    if "works" not in made.printed:
        pytest.skip(f"bwrap makes no sandbox here: {made.printed.strip()}")
    yield world
    left = ended_by_force(LEAK_MARK, world.mark, patience=2.0)
    assert not left, f"processes left behind: {left}"


def installed(text: str, builtins: frozenset[str]) -> bool:
    place = shutil.which(text)
    return text in builtins or (place is not None and not place.startswith("/home/"))


@cache
def commands() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """By program that is installed: its commands in the tables, each with its options there."""
    shown = subprocess.run(["bash", "-c", "compgen -b"], capture_output=True, text=True, check=True)
    builtins = frozenset(shown.stdout.split()) - {"["}
    tables = command_tables()
    options: dict[str, list[str]] = {}
    for table in tables:
        for lines, meanings in table.get("options", {}).items():
            names = [name for key in meanings for name in key.split()]
            for line in lines.split(","):
                options.setdefault(line.strip(), []).extend(n.partition("=")[0] for n in names)
    lines = {line for t in tables for g in t.get("group", ()) for line in g["commands"]}
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for line in sorted(lines | options.keys()):
        words = line.split()
        if set("*?[") & set(line) or not installed(words[0], builtins):
            continue
        above = (" ".join(words[:end]) for end in range(1, len(words) + 1))
        own = tuple(dict.fromkeys(name for one in above for name in options.get(one, ())))
        found.setdefault(words[0], []).append((line, own))
    return found


def variables() -> list[str]:
    """The names of the tables; for `*` something stands."""
    groups = (group for table in command_tables() for group in table.get("variable", ()))
    return sorted({name.replace("*", "A") for group in groups for name in group["names"]})


class Trials:
    """Lines that are LOW, run one after another; a program is asked once what options it has."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self._world, self._chance = world, chance
        self._programs, self._variables = commands(), variables()
        self._names = list(self._programs)
        self._said: dict[str, list[list[str]]] = {}
        self._worked: dict[str, list[str]] = {}

    def one(self) -> tuple[str, Told]:
        """The next line, and what it did."""
        while True:
            line, known = self._chance.choice(self._programs[self._chance.choice(self._names)])
            told_of = len(known) + sum(map(len, self._options(line)))
            if self._chance.random() * 30 > told_of + 2:
                continue  # who has many options is more often asked
            operands = [self._operand(line) for _ in range(self._chance.choice((0, 1, 1, 2)))]
            whole = self._whole(line, known, operands)
            if bash_risk(whole) is Risk.LOW:
                told = self._world.run(whole)
                if told.works:
                    self._worked.setdefault(line, []).extend(operands)
                return whole, told

    def _whole(self, line: str, known: tuple[str, ...], operands: list[str]) -> str:
        chance = self._chance
        groups = [group for group in (known, *self._options(line)) if group]
        count = chance.choice((0, 1, 1, 1, 2)) if groups else 0
        parts = [*(self._option(chance.choice(groups)) for _ in range(count)), *operands]
        parts += [self._value()] if chance.random() < 0.2 else []
        chance.shuffle(parts)
        is_told = chance.random() < 0.1
        before = f"{chance.choice(self._variables)}={self._value()}" if is_told else ""
        return " ".join(part for part in (before, line, *parts) if part)

    def _options(self, line: str) -> list[list[str]]:
        """Those in its help, if it is LOW with it: the ones that take a place, and all."""
        if line not in self._said:
            asked = f"{line} --help"
            is_low = bash_risk(asked) is Risk.LOW
            text = self._world.run(asked, seconds=3).printed if is_low else ""
            self._said[line] = [sorted(set(p.findall(text))) for p in (_NAMES_FILE, _OPTION)]
        return self._said[line]

    def _option(self, names: Sequence[str]) -> str:
        name, value = self._chance.choice(names), self._value()
        return self._chance.choice((f"{name} {value}", f"{name}={value}", f"{name}{value}", name))

    def _value(self) -> str:
        """Half of them a file that is not there: most that write make one."""
        return shlex.quote(self._chance.choice(self._chance.choice((_VALUES, _NEW))))

    def _operand(self, line: str) -> str:
        """One with which it came to an end before, where there is such a one."""
        known = self._worked.get(line)
        return self._chance.choice(known if known and self._chance.random() < 0.7 else _OPERANDS)


HARM = [
    "echo > ../guard/new",
    "echo 2 > ../guard/x",
    "rm ../guard/d/y",
    "touch -d yesterday ../guard/x",
    "chmod 700 ../guard/x",
    "../guard/run",
    "make FOO='; touch ../guard/ran'",
    "cat ../guard/.env",
    "cat .env",
]


@pytest.mark.parametrize("line", HARM)
def test_harm_is_seen(world: World, line: str) -> None:
    assert world.run(line).is_harm
    assert not world.run("cat ../guard/x > b; echo x > src/a.py; ls -a ..").is_harm
    assert not world.run("cat b").printed.startswith("1"), "the project is not as new"


def test_what_runs_on_is_ended(world: World) -> None:
    world.run("sleep 60 & sleep 60", seconds=0.5)

    time.sleep(0.5)
    assert not marked_processes(LEAK_MARK, world.mark)


@pytest.mark.soak
@pytest.mark.timeout(SECONDS * 3 + 60)
def test_what_is_low_touches_nothing_beside_the_project(world: World) -> None:
    sys.stdout.write(f"seed: {SEED}\n")
    trials, tried, harmful = Trials(world, random.Random(SEED)), 0, []
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        line, told = trials.one()
        tried += 1
        if told.is_harm:
            harmful.append(f"{line}: {', '.join(told.changes) or 'shows a secret'}")

    sys.stdout.write(f"{tried} lines of {len(commands())} programs\n")
    assert not harmful, f"seed {SEED}:\n" + "\n".join(harmful)
    assert tried > SECONDS / 4, "few of the lines are LOW, or they take long"
