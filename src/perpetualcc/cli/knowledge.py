"""`pcc init`, `search`, `graph`, `context`: what the code says, without a daemon."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, printable
from perpetualcc.cli.options import JsonOption, ProjectArgument, directory
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import canonical, expanded, is_folder, is_repository, outward
from perpetualcc.domain.installing import pip_install
from perpetualcc.domain.texts import counted
from perpetualcc.knowledge.low_priority import at_low_priority

if TYPE_CHECKING:
    from perpetualcc.cli.options import GlobalOptions
    from perpetualcc.config.file import Config
    from perpetualcc.knowledge.rag import RAGPipeline

app = typer.Typer()


@app.command()
def init(
    ctx: typer.Context,
    project: ProjectArgument = Path(),
    requirements: Annotated[
        Path | None,
        typer.Option(help="Requirements file (Markdown, YAML or text), for pcc start too"),
    ] = None,
    skip_index: Annotated[bool, typer.Option(help="Do not index the code now")] = False,
    vectors: Annotated[
        bool | None,
        typer.Option(
            help="Make vectors now and wait, or not at all [default: in the background]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """
    Prepare a project: read its code, build its index. Safe to repeat.

    Example: pcc init ./api --requirements requirements.md
    """
    from perpetualcc.cli.chosen_requirements import remember, remembered
    from perpetualcc.store.index.database import make_project_folder

    if skip_index and vectors:
        raise Mistyped(
            "`--vectors` are made of the index, and `--skip-index` makes none",
            hint="Leave one of the two out",
        )
    folder = directory(project)
    named = _requirements(requirements)
    is_new = make_project_folder(folder)
    options: GlobalOptions = ctx.obj
    if named is not None:
        remember(options.locations, folder, named)
    if not skip_index:
        _index(folder, vectors)
    print(f"✓ {'Created' if is_new else 'Found'} .perpetualcc/ directory")
    print("\nProject initialized. Start a session with:")
    task = ' --task "Your task here"'
    with suppress(PerpetualError):  # what was chosen before may be gone: `pcc start` says so
        task = "" if _lists_work(named or remembered(options.locations, folder)) else task
    print(f"  pcc start {shlex.quote(str(project))}{task}")


def _index(folder: Path, vectors: bool | None) -> None:
    from perpetualcc.config.embeddings import embeddings_of
    from perpetualcc.config.file import load_config
    from perpetualcc.store.index.opening import open_pipeline

    config = load_config()
    embeddings = None if vectors is False else embeddings_of(config)
    if vectors and embeddings is None:
        raise PerpetualError("There is no model to make vectors with", hint=_for_meaning(config))
    pipeline = open_pipeline(folder, embeddings, config.knowledge)
    with _bar("Indexing files") as progress:
        report = pipeline.index_project(progress=progress)
    counts = pipeline.counts()
    # What turned out to be no text was read too, and is no file of the index.
    read = min(report.changed, counts.files)
    graph = f"{counted(counts.modules, 'module')}, {counted(counts.functions, 'function')}"
    took = f"{counted(read, 'file')} read in {report.seconds:.1f}s"
    print(f"✓ Scanning project structure... ({counted(counts.files, 'file')} found)")
    print(f"✓ Building knowledge graph... ({graph})")
    print(f"✓ Indexing codebase for RAG... ({counted(counts.chunks, 'chunk')}, {took})")
    if vectors:
        with _bar("Making vectors") as progress:
            pipeline.embed_project(progress)
        print(f"✓ Embedding chunks... ({counted(pipeline.counts().vectors, 'chunk')} embedded)")
    elif embeddings is None and vectors is None:
        print(f"  Words and graph only; for meaning: {_for_meaning(config)}")
    elif counts.vectors < counts.chunks and embeddings is not None:
        _embed_in_background(folder)
        print("✓ Embedding chunks in the background; until then words answer")


def _for_meaning(config: "Config") -> str:
    """What to type for vectors where there is nothing to make them with."""
    if config.knowledge.embedding_provider == "none":
        return "pcc config set embedding_provider local"
    return pip_install("perpetualcc[embed]")


def _embed_in_background(folder: Path) -> None:
    subprocess.Popen(
        at_low_priority("init", str(folder), "--vectors"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@app.command()
def search(
    project: ProjectArgument,
    query: Annotated[str, typer.Argument(help="A question, or some words")] = "",
    count: Annotated[int, typer.Option("-k", help="How many results", min=1, max=1000)] = 10,
    as_json: JsonOption = False,
    as_lines: Annotated[
        bool, typer.Option("--jsonl", help="Read {id, query} lines, write {id, results} lines")
    ] = False,
) -> None:
    """
    Find the code that answers a question; alone it is asked of the repository that you are in.

    Example: pcc search ./api "where are tokens checked?"
    """
    if not as_lines:
        project, query = _meant("search", project, query, "where are tokens checked?")
    if as_lines and query:
        raise Mistyped(
            f"`--jsonl` reads its queries from standard input, and {query!r} is one more",
            hint="pcc search PROJECT --jsonl <queries.jsonl",
        )
    pipeline = _fresh(directory(project))
    if as_lines:
        for line in sys.stdin.buffer:
            if line.strip():
                print(json.dumps(_answer_line(pipeline, line, count)), flush=True)
        return
    from perpetualcc.knowledge.answers import result_dict

    found = pipeline.retrieve(query, count)
    if as_json:
        print_json([result_dict(result) for result in found])
        return
    for result in found:
        place = f"{result.file_path}:{result.start}-{result.end}"
        print(printable(f"{result.score:.2f}  {place}  {result.symbol}".rstrip()))
    if not found:
        print("Nothing shares a word with the query", file=sys.stderr)


def _meant(command: str, project: Path, asked: str, such_as: str) -> tuple[Path, str]:
    """
    The project, and what is asked of it: a word alone is asked of the repository that one is in.

    Raises Mistyped, with the whole line to type: there is none, or the word is a directory.
    """
    if asked.strip():
        return project, asked
    typed = str(project)
    if is_folder(expanded(project)):
        again = f"pcc {command} {shlex.quote(typed)} {shlex.quote(such_as)}"
        raise Mistyped(f"What is asked of {typed!r}?", hint=f"Such as: {again}")
    here = next(filter(is_repository, outward(canonical(Path()))), None)
    if here is None:
        again = f"pcc {command} PROJECT {shlex.quote(typed)}"
        raise Mistyped(
            f"{typed!r} is no directory, and you are in no repository that it could be asked of",
            hint=f"Name the project's directory: {again}",
        )
    return here, typed


def _answer_line(pipeline: "RAGPipeline", line: bytes, count: int) -> dict[str, Any]:
    from perpetualcc.domain.json_lines import UnusableLine, object_of, text_of

    try:
        asked = object_of(line)
        query = text_of(asked, "query")
    except UnusableLine as error:
        return {"id": error.id, "results": [], "error": error.message}
    results = [
        {"file": r.file_path, "start": r.start, "end": r.end, "score": r.score}
        for r in pipeline.retrieve(query, count)
    ]
    return {"id": asked.get("id"), "results": results}


@app.command()
def graph(
    project: ProjectArgument,
    entity: Annotated[
        str, typer.Argument(help="A path, a name, or path::Class.method", show_default=False)
    ] = "",
    *,
    report: Annotated[
        bool, typer.Option("--report", help="Cycles, layers and orphans of the whole project")
    ] = False,
    depth: Annotated[int, typer.Option(help="How many steps away", min=1, max=10)] = 2,
    as_json: JsonOption = False,
    as_dot: Annotated[bool, typer.Option("--dot", help="Print Graphviz")] = False,
) -> None:
    """
    Show what is near a file, a class or a function; or report on the whole project.

    A name alone is looked for in the repository that you are in.

    Example: pcc graph ./api src/auth.py --depth 1
    """
    from perpetualcc.cli.structure_report import print_report
    from perpetualcc.knowledge.answers import related_dict
    from perpetualcc.store.index.opening import open_graph, open_structure

    if as_json and as_dot:
        raise Mistyped("`--json` and `--dot` are two forms", hint="Leave one of the two out")
    _refuse_contradictions(entity, report=report, as_dot=as_dot)
    if not report:
        project, entity = _meant("graph", project, entity, "src/auth.py")
    folder = directory(project)
    if report:
        _fresh(folder)
        print_report(open_structure(folder), as_json=as_json)
        return
    _fresh(folder)
    related = open_graph(folder).related(entity, depth)
    if as_dot:
        print("\n".join(_dot(related)))
    elif as_json:
        print_json([related_dict(entry) for entry in related])
    else:
        for entry in related:
            print(printable(f"{'  ' * (entry.distance - 1)}{_arrow(entry)} {entry.node}"))
        if not related:
            print(printable(f"Nothing in the index is linked with {entity!r}"), file=sys.stderr)


def _refuse_contradictions(entity: str, *, report: bool, as_dot: bool) -> None:
    hint = "pcc graph PROJECT src/auth.py [--dot], or pcc graph PROJECT --report [--json]"
    if report and entity:
        raise Mistyped(
            f"`--report` is about the whole project, and {entity!r} is a part of it", hint=hint
        )
    if report and as_dot:
        raise Mistyped("`--report` cannot be drawn: --dot is for what is near an entity", hint=hint)


def _arrow(entry: Any) -> str:
    """The relation as it reads from what was asked about."""
    passive = {"imports": "imported by", "calls": "called by", "defines": "defined in"}
    kind = str(entry.edge.kind)
    return kind if entry.edge.target == entry.node else passive[kind]


def _dot(related: list[Any]) -> Iterator[str]:
    yield "digraph code {"
    yield "  rankdir=LR;"
    for entry in related:
        source, target = (json.dumps(str(n)) for n in (entry.edge.source, entry.edge.target))
        yield f"  {source} -> {target} [label={entry.edge.kind}];"
    yield "}"


@app.command()
def context(
    project: ProjectArgument,
    file: Annotated[str, typer.Argument(help="A file of the project, or the end of its path")] = "",
    as_json: JsonOption = False,
) -> None:
    """
    Show a file's imports, exports and callers; alone it is one of the repository that you are in.

    Example: pcc context ./api src/auth.py
    """
    from perpetualcc.store.index.opening import open_graph

    project, file = _meant("context", project, file, "src/auth.py")
    folder = directory(project)
    _fresh(folder)
    found = open_graph(folder).get_file_context(_inside(folder, file))
    if as_json:
        print_json(found)
        return
    print(printable("\n".join(_context_lines(found))))


def _context_lines(found: dict[str, Any]) -> Iterator[str]:
    yield found["path"]
    for entry in found["imports"]:
        yield f"  imports {entry['module']}" + (f"  ({entry['file']})" if entry["file"] else "")
    for path in found["imported_by"]:
        yield f"  imported by {path}"
    for entry in found["exports"]:
        yield f"  exports {entry['kind']} {entry['name']}  (line {entry['start']})"
    for entry in found["callers"]:
        yield f"  {entry['calls']} is called at {entry['file']}:{entry['line']}"


def _inside(folder: Path, file: str) -> str:
    """A path as typed in the shell, relative to the project where it is in it."""
    path = Path(file)
    if path.exists() and path.resolve().is_relative_to(folder):
        return path.resolve().relative_to(folder).as_posix()
    return file.removeprefix("./")


def _fresh(folder: Path) -> "RAGPipeline":
    """The pipeline of a project whose index knows every change."""
    from perpetualcc.config.embeddings import embeddings_of
    from perpetualcc.config.file import load_config
    from perpetualcc.store.index.opening import open_pipeline

    config = load_config()
    embeddings = embeddings_of(config)
    pipeline = open_pipeline(folder, embeddings, config.knowledge)
    if embeddings is None and pipeline.is_first_time("told of vectors"):
        print(f"Words only; for meaning: {_for_meaning(config)}", file=sys.stderr)
    with _bar("Indexing files") as progress:
        report = pipeline.index_project(wait=False, progress=progress)
    if not report.is_complete:
        print("Another process is indexing; the newest changes may be missing", file=sys.stderr)
    return pipeline


@contextmanager
def _bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar where a person watches, and only for work worth watching."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=total > 50)


def _lists_work(requirements: Path | None) -> bool:
    """Whether `pcc start` has something to do without being told what."""
    from perpetualcc.requirements import read_requirements

    found = read_requirements(requirements).tasks if requirements else ()
    return not all(task.done for task in found)


def _requirements(file: Path | None) -> Path | None:
    if file is None:
        return None
    if not file.is_file():
        raise PerpetualError(
            f"There is no requirements file {str(file)!r}", hint="Give Markdown, YAML or text"
        )
    from perpetualcc.requirements import read_requirements

    read_requirements(file)  # what a session could not begin with is refused here
    return file.resolve()
