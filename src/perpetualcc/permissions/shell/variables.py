"""The variables of a script whose values are known before it runs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from perpetualcc.permissions.shell.script import UNKNOWN, Word

ARGUMENTS = "@"
"""What a script or a function is given, which `set --` and `shift` change."""
VALUE_LIMIT = 4_000
"""Longer values are taken as unknown: doubling a variable must not double our work for ever."""
_PROJECT_VARIABLES = (
    "CLAUDE_PROJECT_DIR", "GITHUB_WORKSPACE", "CI_PROJECT_DIR", "WORKSPACE", "TRAVIS_BUILD_DIR",
)  # fmt: skip

_EVERYWHERE = {
    "IFS": " \t\n",
    "TMPDIR": "/tmp",  # noqa: S108  # the shell's usual value, nothing is written
    **dict.fromkeys(("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE"), "/dev/stdout"),
}
"""What is the same for every line; what a build machine reads as a report is as good as printed."""
_NAME = re.compile(r"\w+")
_SUBSCRIPT = re.compile(r"^\[[^\]]*\]\+?=")
"""Where in a list a word is to be: `([2]=b)`."""
_SET_BY_SHELLS = frozenset({"MATCH", "OLDPWD", "OPTARG", "RANDOM", "REPLY", "SECONDS", "_"})
"""What the line gives them is soon something else."""
_PLAIN_KEYS = (
    "CACHE|COLUMN|CONFIG|DATA|DEV|FOREIGN|GROUP|HASH|HOST|INDEX|ISSUE|JSON|LOCK|LOOKUP|MAP|OBJECT"
    "|PARTITION|PRIMARY|PROJECT|PUB|PUBLIC|ROW|S3|SORT|STATE|TICKET"
)
"""What stands before `_KEY` in names of what is looked up, and opens nothing."""
_DATABASES = "AMQP|CLICKHOUSE|DB|DATABASE|MARIADB|MONGO(?:DB)?|MYSQL|PG|POSTGRES(?:QL)?|REDIS"
SECRET_VARIABLE = re.compile(
    r"\$\{?(?:(?i:\w*(?:SECRET|TOKEN|PASSW(?:OR)?D|PASSPHRASE|API_?KEY|PRIVATE_?KEY|CREDENTIAL|ACCESS_?KEY)\w*)"
    rf"|(?!(?:\w*_)?(?:{_PLAIN_KEYS})_KEY\b)\w+_KEY\b|\w+_(?:DSN|PWD|SK)\b"
    rf"|(?:\w+_)?(?:(?:{_DATABASES})_?UR[IL]|CONNECTION_?STRING|COOKIES?|CREDS?|DSN|JWT)\b"
    r"|(?:\w+_)?(?:(?:DOCKER|HTTP|NODE|NPM|REDIS|REGISTRY)_AUTH|(?:DISCORD|SLACK|TEAMS)(?:_\w+)?_WEBHOOK(?:_URL)?)\b)"
)
"""A variable that is named like what must not be shown: `$GITHUB_TOKEN`."""


_NAMED = re.compile(r"\$\{?(\w+)")
_ONLY_ASKED = re.compile(r"\$\{\w+:?\+[^${}]*\}")
"""`${TOKEN:+set}` says that it is there."""
_SUBSTITUTED = re.compile(r"\$\([^()]*\)|`[^`]*`")


def holds_secret(text: str, secrets: Iterable[str] = ()) -> bool:
    """Whether one of the variables in `text` is named like a secret, or among `secrets`."""
    if "$" not in text:
        return False
    is_named = SECRET_VARIABLE.search(_ONLY_ASKED.sub("", text)) is not None
    return is_named or names_any(text, secrets)


def names_any(text: str, names: Iterable[str]) -> bool:
    """Whether there is a variable in `text` that has one of these names."""
    return not set(names).isdisjoint(_NAMED.findall(_ONLY_ASKED.sub("", text)))


def is_given_secret(text: str, secrets: Iterable[str]) -> bool:
    """The same of a value; what a command in `$(…)` prints is looked at where it prints."""
    return holds_secret(_SUBSTITUTED.sub("", text) if "(" in text or "`" in text else text, secrets)


class Variables:
    """Names and known values. A name it does not have is known only when the script runs."""

    def __init__(self, *, home: str, project: str, cwd: str) -> None:
        self.secrets: set[str] = set()
        """Names of variables that have been given a secret, by whatever way."""
        self._values = {"HOME": home, "PWD": cwd, **_EVERYWHERE}
        self._values.update(dict.fromkeys(_PROJECT_VARIABLES, project))
        self._usual = dict(self._values)

    def __contains__(self, name: str) -> bool:
        """Whether the line has set it, or every shell."""
        return name in self._values

    def is_given(self, name: str) -> bool:
        """Whether the line has set it."""
        return self._values.get(name) != self._usual.get(name)

    def get(self, name: str) -> str:
        if name.isdigit() and (given := self.get_list(ARGUMENTS)) is not None and name != "0":
            return given[int(name) - 1] if int(name) <= len(given) else ""
        return self._values.get(name, UNKNOWN)

    @contextmanager
    def arguments(self, words: Sequence[Word] | None) -> Iterator[None]:
        """A function has `$@` of its own: `words`, or None while these are not known."""
        held = self._values.pop(f"{ARGUMENTS}[@]", None)
        if words is not None:
            self.set_list(ARGUMENTS, words, is_more=False)
        yield
        self._values.pop(f"{ARGUMENTS}[@]", None)
        if held is not None:
            self._values[f"{ARGUMENTS}[@]"] = held

    def freeze(self, name: str, *, is_certain: bool) -> None:
        """`readonly x`: what it would be given from here on it does not take."""
        self._values[f"{name}[!]"] = "" if is_certain else UNKNOWN

    def set(self, name: str, value: str) -> None:
        frozen = self._values.get(f"{name}[!]")
        if frozen == "":
            return
        is_kept = len(value) <= VALUE_LIMIT and name not in _SET_BY_SHELLS and frozen is None
        self._values[name] = value if is_kept else UNKNOWN
        self._values.pop(f"{name}[@]", None)
        if name == "argv":  # to zsh it is the same list
            self._values.pop(f"{ARGUMENTS}[@]", None)

    def set_list(self, name: str, words: Sequence[Word], *, is_more: bool) -> None:
        """`name=(a b)`, and `name+=(c)`."""
        before = self.get_list(name) if is_more else []
        self.set(name, UNKNOWN)
        texts = [_SUBSCRIPT.sub("", word.text) for word in words]
        # A pattern stands for files, each of them one word.
        if not any(word.globs and word.text[:1] != "[" for word in words):
            is_known = before is not None and all(word.is_constant for word in words)
            self._keep_list(name, [*before, *texts] if before is not None and is_known else None)

    def set_element(self, name: str, value: str, at: int | None) -> None:
        """
        `name[1]=value`; `at` is None where the number is not written.

        It is the second word to bash and the first to zsh: neither is known from here on, and
        what it is and what they were stand behind all others.
        """
        before = self.get_list(name) if name in self._values else []
        self.set(name, UNKNOWN)
        if before is None:
            self._keep_list(name, None)
            return
        may_be = range(len(before)) if at is None else (at - 1, at)
        first = [UNKNOWN if n in may_be else word for n, word in enumerate(before)]
        self._keep_list(name, [*first, *(before[n] for n in may_be if 0 <= n < len(before)), value])

    def _keep_list(self, name: str, words: list[str] | None) -> None:
        is_free = f"{name}[!]" not in self._values
        value = "\0".join(words) if words is not None and is_free else UNKNOWN
        self._values[f"{name}[@]"] = value if len(value) <= VALUE_LIMIT else UNKNOWN

    def has_list(self, name: str) -> bool:
        """Whether the line has set a list of this name."""
        return f"{name}[@]" in self._values

    def get_list(self, name: str) -> list[str] | None:
        """
        What `${name[@]}` is, of one word where no list is set; None when it is not known.

        Single words of it may be `UNKNOWN`.
        """
        value = self._values.get(f"{name}[@]")
        if value is None and UNKNOWN in (value := self._values.get(name, UNKNOWN)):
            return None
        return None if value == UNKNOWN else value.split("\0") if value else []

    def forget(self, names: Iterable[str]) -> None:
        """`read x`, `read "x?Name:"`, `unset x`, `printf -v x`: what they hold is not known."""
        for name in names:
            if match := _NAME.match(name):
                self.set(match[0], UNKNOWN)
                if "[" in name:
                    self._keep_list(match[0], None)

    def snapshot(self) -> dict[str, str]:
        return dict(self._values)

    def restore(self, snapshot: dict[str, str]) -> None:
        self._values = snapshot

    def merge(self, before: dict[str, str]) -> None:
        """After something that may or may not have run: what changed is unknown."""
        for name, value in self._values.items():
            if before.get(name, UNKNOWN) != value:
                self._values[name] = UNKNOWN
