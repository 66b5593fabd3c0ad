"""Where does it belong? An inference from what the project's directory holds (seed 000: 0.7)."""

import re
from pathlib import Path, PurePosixPath

from perpetualcc.brain.rules.asking import Asked
from perpetualcc.domain.questions import Question

_WHERE = re.compile(
    r"\b(?:where|which (?:file|folder|directory|module|path|location))\b.*"
    r"\b(?:put|save|place|create|add|go|live|store|write|belong|located|location|file|folder|directory)\b"
)
_PATH = re.compile(r"(?:^|[\s`(\"'])((?:[\w.-]+/)+[\w.-]*|[\w-]+\.\w{1,5})")


def option_in_project(question: Question, asked: Asked, project: str) -> str:
    """The one option whose directory exists in the project; empty when none or several do."""
    if not project or question.multi_select or not _WHERE.search(asked.folded):
        return ""
    root = Path(project)
    existing = [option.label for option in question.options if _exists(root, option.label)]
    named = [option.label for option in question.options if _PATH.search(option.label)]
    return existing[0] if len(existing) == 1 and len(named) > 1 else ""


def _exists(root: Path, label: str) -> bool:
    found = _PATH.search(label)
    if not found:
        return False
    path = PurePosixPath(found[1])
    if path.is_absolute() or ".." in path.parts:
        return False
    place = root.joinpath(*path.parts)
    return place.exists() or ("." in path.name and len(path.parts) > 1 and place.parent.is_dir())
