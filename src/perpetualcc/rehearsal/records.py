"""What Claude Code sent and what it was told, kept for assertions and for a JSONL file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SECRET_HEADERS = {"authorization", "x-api-key", "cookie", "proxy-authorization"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One request, and what it was told."""

    number: int
    at: float
    """Epoch seconds."""
    path: str
    headers: Mapping[str, str]
    """Without secrets: their values read `(hidden)`."""
    body: Mapping[str, Any]
    session: str
    """Claude Code's session id."""
    scene: str | None = None
    step: int | None = None
    told: str = ""
    """`reply`, `aside`, `overflow`, or the kind of failure."""
    mismatches: Sequence[str] = ()

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages", []))

    @property
    def system(self) -> str:
        system = self.body.get("system", "")
        if isinstance(system, str):
            return system
        return "\n".join(str(block.get("text", "")) for block in system)


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


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: "(hidden)" if name in _SECRET_HEADERS else value for name, value in headers.items()
    }


def conversations_of(requests: Sequence[Recorded]) -> list[Conversation]:
    """Group scripted requests by session and scene, in order of their first request."""
    groups: dict[tuple[str, str], list[Recorded]] = {}
    for one in requests:
        if one.scene is not None:
            groups.setdefault((one.session, one.scene), []).append(one)
    return [
        Conversation(session=session, scene=scene, requests=found)
        for (session, scene), found in groups.items()
    ]


def append_record(path: Path, record: Recorded) -> None:
    """Add one line of JSON to a record file."""
    line = {name: getattr(record, name) for name in Recorded.__dataclass_fields__}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
