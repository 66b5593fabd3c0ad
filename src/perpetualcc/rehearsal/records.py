"""What Claude Code sent and what it was told, kept for assertions and for a JSONL file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

_SECRET_HEADERS = {"authorization", "x-api-key", "cookie", "proxy-authorization"}
# Every request repeats its whole conversation, so a thousand tool calls send some 300 MB.
_BYTES_KEPT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One request, and what it was told."""

    number: int
    at: float
    """Epoch seconds."""
    path: str
    headers: Mapping[str, str]
    """Without secrets: their values read `(hidden)`."""
    raw: bytes = field(repr=False)
    """The request's body; empty when newer requests needed its room (64 MB are kept)."""
    news: Sequence[Mapping[str, Any]] = ()
    """The messages since the last scripted reply; these are always kept."""
    session: str
    """Claude Code's session id."""
    scene: str | None = None
    step: int | None = None
    told: str = ""
    """`reply`, `aside`, `overflow`, or the kind of failure."""
    failure: int | None = None
    """Which failure of the step it met."""
    resets_at: float = 0.0
    mismatches: Sequence[str] = ()

    @property
    def body(self) -> dict[str, Any]:
        """The request's body as JSON; empty when it is not kept any more."""
        return dict(json.loads(self.raw)) if self.raw else {}

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages", []))

    @property
    def system(self) -> str:
        """The system prompt as one text."""
        system = self.body.get("system", "")
        if isinstance(system, str):
            return system
        return "\n".join(str(block.get("text", "")) for block in system)

    def to_json(self) -> dict[str, Any]:
        """All but the raw body, for a record file."""
        names = [name for name in type(self).__dataclass_fields__ if name != "raw"]
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The scripted requests of one Claude Code session in one scene."""

    session: str
    scene: str
    requests: Sequence[Recorded]

    @property
    def steps(self) -> list[int]:
        """Steps in the order in which they were played; a step played twice is here twice."""
        return [one.step for one in self.requests if one.told == "reply" and one.step is not None]


class Records:
    """The requests of one rehearsal, in order; old bodies make room for new ones."""

    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self._kept = 0
        self._oldest = 0

    def add(self, record: Recorded) -> None:
        self.requests.append(record)
        self._kept += len(record.raw)
        while self._kept > _BYTES_KEPT and self._oldest < len(self.requests) - 1:
            old = self.requests[self._oldest]
            self._kept -= len(old.raw)
            self.requests[self._oldest] = replace(old, raw=b"")
            self._oldest += 1

    def conversations(self) -> list[Conversation]:
        """Scripted requests by session and scene, in order of their first request."""
        groups: dict[tuple[str, str], list[Recorded]] = {}
        for one in self.requests:
            if one.scene is not None:
                groups.setdefault((one.session, one.scene), []).append(one)
        return [
            Conversation(session=session, scene=scene, requests=found)
            for (session, scene), found in groups.items()
        ]


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: "(hidden)" if name in _SECRET_HEADERS else value for name, value in headers.items()
    }


def append_record(path: Path, record: Recorded) -> None:
    """Add one line of JSON to a record file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record.to_json()) + "\n")


def read_records(path: Path) -> Iterator[Recorded]:
    """Read a record file of an earlier server; a line that was cut off by a kill is left out."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield Recorded(raw=b"", **json.loads(line))
        except (ValueError, TypeError):
            continue
