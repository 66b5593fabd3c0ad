"""`pcc brain`: ask a brain what it would answer, without a session."""

import asyncio
import json
import logging
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.brain.factory import open_brain
from perpetualcc.brain.port import Brain
from perpetualcc.brain.question_lines import read_line
from perpetualcc.brain.settings import BrainSettings, BrainType
from perpetualcc.claude.completion import ClaudeCompletion
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, printable
from perpetualcc.cli.options import Group, JsonOption, directory
from perpetualcc.config import environment
from perpetualcc.config.file import load_config
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.json_lines import UnusableLine
from perpetualcc.domain.questions import BrainAnswer, Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements, read_text

_log = logging.getLogger(__name__)

app = typer.Typer(cls=Group, help="Ask a brain what it would answer.")


@app.callback()
def _group() -> None:
    """Ask a brain what it would answer."""


@app.command()
def ask(  # noqa: PLR0917  # Typer passes by name; these are the command's options
    question: Annotated[
        str | None, typer.Argument(help="The question; with --jsonl a file of questions")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="One of the answers; repeat")
    ] = None,
    multi: Annotated[bool, typer.Option("--multi", help="Several may be chosen")] = False,
    requirements: Annotated[
        Path | None,
        typer.Option("--requirements", "-r", help="Requirements file (Markdown, YAML or text)"),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(help="The project's directory, for questions of where things belong"),
    ] = None,
    brain: Annotated[
        BrainType, typer.Option(help="none, claude, gemini or ollama")
    ] = BrainType.NONE,
    model: Annotated[str, typer.Option(help="Model of the brain")] = "",
    host: Annotated[str, typer.Option(help="Address of the brain's server")] = "",
    as_json: JsonOption = False,
    jsonl: Annotated[
        bool,
        typer.Option(
            "--jsonl",
            help="Read {id, question, requirements (a path)} a line, from a file or stdin",
        ),
    ] = False,
) -> None:
    """
    Answer a question from the requirements, or say that a person must.

    Example: pcc brain ask "Which database?" -o PostgreSQL -o SQLite -r requirements.md
    """
    if jsonl and (option or multi or requirements):
        raise Mistyped(
            "With `--jsonl` each line says its own options and requirements",
            hint="pcc brain ask --jsonl <questions.jsonl",
        )
    chosen = _open(brain, model, host)
    if jsonl:
        _answer_lines(chosen, Path(question) if question else None)
        return
    if not question:
        raise typer.BadParameter("Give a question, or --jsonl", param_hint="question")
    if project is not None:
        directory(project)
    asked = Question(
        text=question,
        options=tuple(Option(label=one) for one in option or ()),
        multi_select=multi,
    )
    context = _context(str(requirements) if requirements else "", str(project or ""))
    answer = asyncio.run(chosen.answer_question(asked, context))
    if as_json:
        print_json(_as_data(answer))
    else:
        _say(answer)


@dataclass(frozen=True, slots=True)
class _Sure:
    """A brain that chooses nothing where a session would ask a person."""

    brain: Brain
    threshold: float

    async def answer_question(self, question: Question, context: QuestionContext) -> BrainAnswer:
        answer = await self.brain.answer_question(question, context)
        if answer.confidence >= self.threshold or not answer.selected:
            return answer
        suggestion = f"Perhaps {', '.join(answer.selected)}. {answer.reasoning}"
        return replace(answer, selected=(), reasoning=suggestion)


def _open(kind: BrainType, model: str, host: str) -> _Sure:
    """The brain that the options name; what they leave out is as the settings have it."""
    settings = _settings(load_config().brain, kind, model, host)
    brain = open_brain(
        settings, parse=parse_statements, environment=environment(), open_claude=ClaudeCompletion
    )
    return _Sure(brain, settings.confidence_threshold)


def _settings(configured: BrainSettings, kind: BrainType, model: str, host: str) -> BrainSettings:
    claude, gemini, ollama = configured.claude, configured.gemini, configured.ollama
    return replace(
        configured,
        type=kind,
        claude=replace(claude, model=model or claude.model),
        gemini=replace(gemini, model=model or gemini.model, base_url=host or gemini.base_url),
        ollama=replace(ollama, model=model or ollama.model, host=host or ollama.host),
    )


def _context(requirements: str, project: str = "") -> QuestionContext:
    text = ""
    if requirements:
        text = read_text(Path(requirements))
        parse_statements(text, requirements)
    return QuestionContext(project=project, requirements_text=text, requirements_path=requirements)


def _say(answer: BrainAnswer) -> None:
    if answer.selected:
        print(printable(", ".join(answer.selected)))
    else:
        print("A person must decide")
    print(printable(f"confidence {answer.confidence:.2f}: {answer.reasoning}"))
    if answer.quote:
        print(printable(answer.quote))


def _as_data(answer: BrainAnswer) -> dict[str, Any]:
    because = ": ".join(part for part in (answer.reasoning, answer.quote) if part)
    return {
        "action": "answer" if answer.selected else "escalate",
        "labels": list(answer.selected),
        "confidence": round(answer.confidence, 2),
        "because": because,
    }


def _answer_lines(brain: _Sure, path: Path | None) -> None:
    """One line out for each line in, whatever is in it."""
    try:
        source = path.open("rb") if path else sys.stdin.buffer
    except OSError as error:
        raise PerpetualError(f"{path} cannot be read: {error.strerror}") from error
    contexts: dict[str, QuestionContext] = {}
    # Lines are waited for outside of the event loop, which would swallow the first Ctrl+C.
    with asyncio.Runner() as runner:
        for raw in source:
            line = raw.decode("utf-8", errors="replace").strip()
            if line:
                data = runner.run(_answer_line(brain, line, contexts))
                # ASCII, because a label may hold what no encoding can write.
                print(json.dumps(data), flush=True)


async def _answer_line(
    brain: _Sure, line: str, contexts: dict[str, QuestionContext]
) -> dict[str, Any]:
    known = None
    try:
        asked = read_line(line)
        known = asked.id
        if asked.requirements not in contexts:
            contexts[asked.requirements] = _context(asked.requirements)
        context = contexts[asked.requirements]
        answers = [await brain.answer_question(one, context) for one in asked.questions]
    except UnusableLine as error:
        return _failed(error.id, error.message)
    except PerpetualError as error:
        return _failed(known, error.message)
    except Exception as error:  # noqa: BLE001  # the loop outlives its lines
        # One line must not cost the others their answers.
        _log.exception("line with the id %s", known)
        return _failed(known, f"Unexpected: {type(error).__name__}")
    return {"id": asked.id, **_together(answers)}


def _failed(known: Any, error: str) -> dict[str, Any]:
    return {
        "id": known,
        "action": "escalate",
        "labels": [],
        "confidence": 0.0,
        "because": "The line cannot be answered",
        "error": error,
    }


def _together(answers: list[BrainAnswer]) -> dict[str, Any]:
    """Several questions of one call are answered together, or by a person."""
    if len(answers) == 1:
        return _as_data(answers[0])
    unsure = next((answer for answer in answers if not answer.selected), None)
    if unsure is not None:
        return _as_data(unsure)
    return {
        "action": "answer",
        "labels": [label for answer in answers for label in answer.selected],
        "confidence": round(min(answer.confidence for answer in answers), 2),
        "because": " · ".join(_as_data(answer)["because"] for answer in answers),
    }
