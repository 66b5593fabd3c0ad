"""One file of the project, read and taken apart. Runs in a worker process."""

import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from perpetualcc.knowledge.code_words import chunk_words
from perpetualcc.knowledge.parse.chunks import CodeChunks
from perpetualcc.knowledge.parse.exports import exports
from perpetualcc.knowledge.parse.imports import module_keys, read_imports
from perpetualcc.knowledge.parse.languages import LANGUAGES, language_of
from perpetualcc.knowledge.parse.layout import ProjectLayout
from perpetualcc.knowledge.parse.prose import prose_chunks
from perpetualcc.knowledge.parse.syntax import call_sites, qualified_names, read_syntax
from perpetualcc.knowledge.scan.filters import skipped_by_content
from perpetualcc.knowledge.scan.reading import ReadFile, read_file
from perpetualcc.knowledge.values import Chunk, CodeFile, Definition

log = logging.getLogger(__name__)


def parse_file(project: Path, path: str, layout: ProjectLayout) -> CodeFile | None:
    """
    The parts of a file; without chunks when its content is not worth indexing.

    None when it cannot be read: gone, locked away, or no regular file any more.
    """
    try:
        read = read_file(project / path)
    except OSError:
        return None
    if read.text is None or skipped_by_content(read.text) is not None:
        return CodeFile(path=path, language="", stamp=read.stamp, lines=0)
    language = language_of(path, read.text[:200].partition("\n")[0])
    if language in LANGUAGES:
        try:
            return _code_file(read, read.text, path, language, layout)
        except Exception:
            log.exception("%s is indexed as text: its syntax cannot be read", path)
    return text_file(read, read.text, path, language)


def text_file(read: ReadFile, text: str, path: str, language: str) -> CodeFile:
    """A file as prose: what has no grammar, and what a grammar cannot take."""
    lines = text.split("\n")
    return CodeFile(
        path=path,
        language=language,
        stamp=read.stamp,
        lines=len(lines),
        chunks=_with_words(prose_chunks(lines, language)),
    )


def _with_words(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    return tuple(replace(chunk, words=chunk_words(chunk.signature, chunk.text)) for chunk in chunks)


def _code_file(
    read: ReadFile, text: str, path: str, language: str, layout: ProjectLayout
) -> CodeFile:
    syntax = read_syntax(text, language)
    names = qualified_names(syntax.spans)
    lines = text.split("\n")
    definitions = tuple(
        Definition(
            name=span.name, qualified=name, kind=span.kind, start=span.start + 1, end=span.end + 1
        )
        for span, name in zip(syntax.spans, names, strict=True)
    )
    return CodeFile(
        path=path,
        language=language,
        stamp=read.stamp,
        lines=len(lines),
        chunks=_with_words(CodeChunks(lines, syntax.spans, names, language)),
        definitions=definitions,
        exports=exports(syntax.exports, definitions, lines, language),
        imports=read_imports(syntax.imports, path, language, layout),
        calls=tuple(call_sites(syntax, names)),
        module_keys=module_keys(path, language, layout),
    )
