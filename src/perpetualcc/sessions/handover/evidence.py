"""What is on record of an iteration, and where its handover document says otherwise."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perpetualcc.domain.events import (
    Event,
    QuestionAnswered,
    TextSaid,
    ToolDecided,
    ToolFinished,
    WordSaid,
)
from perpetualcc.domain.ids import RequestId
from perpetualcc.domain.tools import WRITERS
from perpetualcc.sessions.handover.document import HandoverDocument
from perpetualcc.sessions.handover.folder import NAME

_TEST_RUN = re.compile(
    r"\b(pytest|unittest|tox|nox|jest|vitest|mocha|playwright|phpunit|rspec|ctest|bats|gradlew?"
    r"|mvn|(?:npm|pnpm|yarn|bun|deno|cargo|go|dotnet|swift|mix|make|just|rake|sbt|zig|flutter)"
    r"\s+(?:run\s+|-\S+\s+)*(?:test|check|unit)|\S*tests?\.(?:sh|py|js))\b"
)
_CLAIM = re.compile(
    r"\btest(?:s|ed|ing)?\b(?P<between>[^.\n]{0,60}?)"
    r"\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|successful(?:ly)?)\b",
    re.IGNORECASE,
)
_SENTENCE = 300
"""Characters on either side of a claim."""
_DENIAL = re.compile(
    r"\b(?:not|n't|never|no|fail\w*|until|once|when|if|should|must|make)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """A shell command that ran."""

    command: str
    succeeded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an iteration did, as the event log tells it."""

    files: tuple[str, ...] = ()
    """Written by Claude's tools, relative to the project where they are in it."""
    commands: tuple[CommandRun, ...] = ()
    said: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    worked: tuple[RequestId, ...] = ()
    """Tool calls that succeeded, the handover's own files apart."""


def evidence_of(events: Iterable[Event]) -> Evidence:
    """Fold an iteration's events, oldest first."""
    wanted: dict[str, ToolDecided] = {}
    done: list[tuple[ToolDecided, ToolFinished]] = []
    said: list[str] = []
    answers: list[str] = []
    for event in events:
        match event:
            case ToolDecided():
                wanted[event.request] = event
            case ToolFinished() if event.request in wanted:
                done.append((wanted[event.request], event))
            case TextSaid():
                said.append(event.text.strip())
            case QuestionAnswered():
                answers += [f"{asked} → {given}" for asked, given in event.answers.items()]
            case WordSaid():
                answers.append(f"The user said: {event.text}")
            case _:
                pass
    own = [pair for pair in done if pair[0].verdict == "allow" and NAME not in pair[0].summary]
    worked = [asked for asked, finished in own if not finished.is_error]
    return Evidence(
        files=tuple(dict.fromkeys(one.summary for one in worked if one.tool in WRITERS)),
        commands=tuple(
            CommandRun(command=asked.summary, succeeded=not finished.is_error)
            for asked, finished in own
            if asked.tool == "Bash"
        ),
        said=tuple(said),
        answers=tuple(answers),
        refused=tuple(
            f"{one.tool} {one.summary}: {one.reason}"
            for one in wanted.values()
            if one.verdict == "deny" and NAME not in one.summary and one.decided_by != "person"
        ),
        worked=tuple(one.request for one in worked),
    )


def differences(
    document: HandoverDocument, evidence: Evidence, project: Path, changed: Sequence[str] = ()
) -> list[str]:
    """
    What the document says and the record does not, in sentences for the next iteration.

    `changed`: files that the repository calls modified.
    """
    return [
        *_missing_files(document, project),
        *_unproven_tests(document, evidence),
        *_unmentioned(document, evidence, changed),
    ]


def named_files(document: HandoverDocument) -> list[str]:
    """The paths under *Files Modified*: what comes before ` - `, without backquotes."""
    found = [
        re.split(r"(?<!\s)\s+[-–—:]\s+", item, maxsplit=1)[0].strip(" `*")
        for item in document.files
    ]
    return [name for name in found if name and " " not in name]


def _missing_files(document: HandoverDocument, project: Path) -> Iterator[str]:
    deleted = {
        name
        for name, item in zip(named_files(document), document.files, strict=False)
        if re.search(r"\b(delet|remov|renam|moved)", item, re.IGNORECASE)
    }
    for name in named_files(document):
        try:
            exists = (project / name).exists()
        except (OSError, ValueError):
            exists = False
        if not exists and name not in deleted:
            yield f"It names the file {name}, which does not exist."


def _unproven_tests(document: HandoverDocument, evidence: Evidence) -> Iterator[str]:
    text = "\n".join([document.summary, *document.completed, document.extra])
    claim = next(
        (one for one in _CLAIM.finditer(text) if not _DENIAL.search(_sentence(text, one))), None
    )
    if claim is None:
        return
    runs = [run for run in evidence.commands if _TEST_RUN.search(run.command)]
    claimed = f'It says "{" ".join(_sentence(text, claim).split())}", but'
    if not runs:
        yield f"{claimed} no test run is on record in that iteration. Run the tests."
    elif not runs[-1].succeeded:
        yield f"{claimed} the last test run, `{runs[-1].command}`, failed. Run it again."


def _sentence(text: str, found: re.Match[str]) -> str:
    """What is around it, as far as the sentence goes, and not too far."""
    first, last = max(0, found.start() - _SENTENCE), min(len(text), found.end() + _SENTENCE)
    ends = (text.rfind(mark, first, found.start()) + 1 for mark in (". ", "\n"))
    start = max(first, *ends)
    end = min(
        (at for mark in (". ", "\n") if (at := text.find(mark, found.end(), last)) >= 0),
        default=last,
    )
    return text[start:end].strip(" .-*")


def _unmentioned(
    document: HandoverDocument, evidence: Evidence, changed: Sequence[str]
) -> Iterator[str]:
    named = named_files(document)
    told = "\n".join([*document.files, document.summary, *document.completed])
    left = [
        name
        for name in dict.fromkeys([*evidence.files, *changed])
        if name not in named and Path(name).name not in told and not name.startswith(NAME)
    ]
    if left:
        more = f" and {len(left) - 10} more" if len(left) > 10 else ""
        yield f"It does not mention these changed files: {', '.join(left[:10])}{more}."
