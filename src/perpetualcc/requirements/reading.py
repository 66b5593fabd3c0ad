"""From a path to `Requirements`: what may be read, and in which of the three formats."""

import errno
from pathlib import Path

from perpetualcc.domain.requirements import Requirements
from perpetualcc.requirements.errors import RequirementsError
from perpetualcc.requirements.markdown import parse_markdown
from perpetualcc.requirements.yaml_form import parse_yaml

MAX_BYTES = 1024 * 1024
"""A megabyte is a novel; more is not something that a person wrote for a project."""

_YAML_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def read_requirements(path: Path) -> Requirements:
    """
    Read a file of any of the three formats; the suffix decides, Markdown and plain text are one.

    Raises:
        RequirementsError: it cannot be read, or says something that cannot be.
    """
    return parse_requirements(read_text(path), str(path))


def read_text(path: Path) -> str:
    """
    The text of a requirements file.

    Raises:
        RequirementsError: it cannot be read, is larger than a megabyte, or is no text; or the path
            is none, but the text itself.
    """
    source = str(path)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        if "\n" in source or error.errno == errno.ENAMETOOLONG:
            begins = " ".join(source.split())[:40]
            raise RequirementsError(
                "requirements",
                f"the path of a file is wanted, and this is text: {begins!r} …",
                hint="Write the text to a file, and give its path",
            ) from error
        raise RequirementsError(
            source,
            f"cannot be read: {error.strerror or error}",
            hint="Name a file in Markdown, YAML or plain text",
        ) from error
    if len(content) > MAX_BYTES:
        raise RequirementsError(
            source,
            "larger than 1 MB",
            hint="Keep what Claude must know here and put the rest in files of the project",
        )
    return _decoded(content, source)


def parse_requirements(text: str, source: str) -> Requirements:
    """Parse text that was read already; `source` names it in quotes and errors."""
    return _parsed(text, source, with_tasks=True)


def parse_statements(text: str, source: str) -> Requirements:
    """
    The same whatever the tasks are: a dependency that cannot be decides no question.

    It has no tasks if they make no sense; what their lines say is among the statements.
    """
    return _parsed(text, source, with_tasks=False)


def _parsed(text: str, source: str, *, with_tasks: bool) -> Requirements:
    if len(text) > MAX_BYTES:
        raise RequirementsError(source, "larger than 1 MB")
    if "\0" in text:
        raise RequirementsError(
            source, "not a text file", line=text.count("\n", 0, text.find("\0")) + 1
        )
    if not text.strip():
        raise RequirementsError(source, "empty", hint="Write what is to be done under `## Tasks`")
    if Path(source).suffix.lower() in _YAML_SUFFIXES:
        return parse_yaml(text, source, with_tasks=with_tasks)
    return parse_markdown(text, source, with_tasks=with_tasks)


def _decoded(content: bytes, source: str) -> str:
    encoding = next((name for bom, name in _BOMS if content.startswith(bom)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RequirementsError(
            source, "not a text file in UTF-8", line=line, hint="Save it as UTF-8"
        ) from error
