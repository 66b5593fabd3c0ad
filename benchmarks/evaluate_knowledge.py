"""
How well `pcc search` finds: docstring to function and question to file, over real packages.

The packages come from the package index as source distributions; docstrings are taken out of the
copies that are indexed, so that a query never meets its own text. Not part of `make test`:

    python -m benchmarks.evaluate_knowledge [--folder F]
"""

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PACKAGES = (
    "flask==3.1.3",
    "requests==2.34.2",
    "click==8.5.1",
    "rich==15.0.0",
    "httpx==0.28.1",
    "werkzeug==3.1.9",
    "jinja2==3.1.6",
    "scrapy==2.19.0",
    "paramiko==5.1.0",
    "celery==5.7.0",
    "starlette==1.10.0",
    "tornado==6.6.1",
    "networkx==3.6.1",
    "pytest==9.2.0",
)
PER_PACKAGE = 80
QUESTIONS = Path(__file__).with_name("knowledge_questions.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked, and every file that answers it."""

    text: str
    files: frozenset[str]


def fetch(folder: Path) -> None:
    """Download and unpack the packages that are missing."""
    for package in PACKAGES:
        if _unpacked(folder, package) is not None:
            continue
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", ":all:", "--dest", str(folder), package]
        subprocess.run(command, check=True)
        for archive in folder.glob("*.tar.gz"):
            with tarfile.open(archive) as opened:
                opened.extractall(folder, filter="data")
            archive.unlink()


def _unpacked(folder: Path, package: str) -> Path | None:
    name = package.replace("==", "-")
    return folder / name if (folder / name).is_dir() else None


def without_docstrings(source: Path, copy: Path) -> list[Query]:
    """Copy a package, take its docstrings out, and return them as queries."""
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".perpetualcc"))
    found: dict[str, set[str]] = {}
    for path in sorted(copy.rglob("*.py")):
        name = path.relative_to(copy).as_posix()
        try:
            text = path.read_text("utf-8")
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        lines = text.split("\n")
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            docstring = ast.get_docstring(node)
            if docstring is None:
                continue
            _take_out(lines, node.body[0])
            query = " ".join(docstring.split("\n\n")[0].split())
            is_source = not any(p in name for p in ("test", "docs/", "example"))
            if isinstance(node, ast.ClassDef) or not is_source or len(query.split()) < 6:
                continue
            found.setdefault(query[:400], set()).add(name)
        path.write_text("\n".join(lines), "utf-8")
    return [Query(text=text, files=frozenset(files)) for text, files in sorted(found.items())]


def _take_out(lines: list[str], node: ast.stmt) -> None:
    indent = " " * node.col_offset
    for number in range(node.lineno - 1, node.end_lineno or node.lineno):
        lines[number] = ""
    lines[node.lineno - 1] = f"{indent}pass"


def run_search(project: Path, queries: list[Query], options: Iterable[str] = ()) -> list[list[str]]:
    """The files that `pcc search --jsonl` returns for each query, best first."""
    asked = "".join(
        json.dumps({"id": number, "query": query.text}) + "\n"
        for number, query in enumerate(queries)
    )
    command = [sys.executable, "-m", "perpetualcc", "search", str(project), "--jsonl", *options]
    output = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout
    found = [json.loads(line) for line in output.splitlines()]
    return [[entry["file"] for entry in answer["results"]] for answer in found]


def scores(queries: list[Query], answers: list[list[str]]) -> tuple[float, float]:
    """Mean reciprocal rank and recall at ten, by file."""
    ranks = []
    for query, files in zip(queries, answers, strict=True):
        distinct = list(dict.fromkeys(files))[:10]
        ranks.append(next((1 / n for n, f in enumerate(distinct, 1) if f in query.files), 0.0))
    return sum(ranks) / len(ranks), sum(rank > 0 for rank in ranks) / len(ranks)


def questions(package: str) -> list[Query]:
    """Questions as people ask them, with the files that answer."""
    entries = json.loads(QUESTIONS.read_text("utf-8"))
    return [
        Query(text=entry["question"], files=frozenset(entry["files"]))
        for entry in entries
        if entry["package"] == package.partition("==")[0]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "pcc-evaluate")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    fetch(folder)
    totals: dict[str, tuple[list[Query], list[list[str]]]] = {
        "docstring": ([], []),
        "question": ([], []),
    }
    for package in PACKAGES:
        source = _unpacked(folder, package)
        if source is None:
            continue
        copy = folder / "stripped" / source.name
        listed = folder / "stripped" / f"{source.name}.json"
        if not listed.exists():
            shutil.rmtree(copy, ignore_errors=True)
            every = without_docstrings(source, copy)
            listed.write_text(json.dumps([[q.text, sorted(q.files)] for q in every]))
        every = [Query(text=t, files=frozenset(f)) for t, f in json.loads(listed.read_text())]
        random.Random(0).shuffle(every)
        asked = {"docstring": every[:PER_PACKAGE], "question": questions(package)}
        for kind, queries in asked.items():
            if not queries:
                continue
            answers = run_search(copy if kind == "docstring" else source, queries)
            totals[kind][0].extend(queries)
            totals[kind][1].extend(answers)
            mrr, recall = scores(queries, answers)
            print(f"{source.name:20} {kind:10} {len(queries):4}  {mrr:.3f} {recall:.3f}")
    for kind, (queries, answers) in totals.items():
        mrr, recall = scores(queries, answers)
        print(f"{'all':20} {kind:10} {len(queries):4}  {mrr:.3f} {recall:.3f}")


if __name__ == "__main__":
    main()
