"""`pcc init`, `search`, `graph`, `context`: what the code says, without a daemon."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.domain.errors import PerpetualError

app = typer.Typer()

ProjectArgument = Annotated[Path, typer.Argument(help="The project's folder", show_default=False)]


@app.command()
def init(
    project: ProjectArgument,
    requirements: Annotated[
        Path | None, typer.Option(help="Requirements file (Markdown or YAML)")
    ] = None,
    skip_index: Annotated[bool, typer.Option(help="Do not index the code now")] = False,
) -> None:
    """Prepare a project: read its code, build its index. Safe to repeat."""
    from perpetualcc.store.index.opening import open_pipeline

    pipeline = open_pipeline(_folder(project))
    pipeline.index_project()
    print(pipeline.counts())


@app.command()
def search(
    project: ProjectArgument,
    query: Annotated[str, typer.Argument(help="A question or some words")] = "",
    count: Annotated[int, typer.Option("-k", help="How many results", min=1, max=1000)] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list")] = False,
    as_lines: Annotated[
        bool, typer.Option("--jsonl", help="Read {id, query} lines, write {id, results} lines")
    ] = False,
) -> None:
    """Find the code that answers a question."""
    from perpetualcc.store.index.opening import open_pipeline

    pipeline = open_pipeline(_folder(project))
    pipeline.index_project(wait=False)
    if as_lines:
        for line in sys.stdin:
            asked = json.loads(line)
            found = pipeline.retrieve(str(asked["query"]), count)
            print(
                json.dumps({"id": asked["id"], "results": [_brief(r) for r in found]}), flush=True
            )
        return
    found = pipeline.retrieve(query, count)
    if as_json:
        print(json.dumps([_brief(r) | {"symbol": r.symbol, "text": r.chunk_text} for r in found]))
    else:
        for result in found:
            print(
                f"{result.score:.3f}  {result.file_path}:{result.start}-{result.end}  {result.symbol}"
            )


def _brief(result: Any) -> dict[str, Any]:
    return {
        "file": result.file_path,
        "start": result.start,
        "end": result.end,
        "score": result.score,
    }


def _folder(project: Path) -> Path:
    if not project.is_dir():
        raise PerpetualError(
            f"{str(project)!r} is not a folder", hint="Give the folder of the project"
        )
    return project.resolve()
