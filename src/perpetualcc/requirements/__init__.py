"""
Reads requirements files: Markdown, YAML and plain text (seed 000, requirements file format).

An error names the file and the line. Nothing is guessed: what has no known place is kept as text.
"""

from perpetualcc.requirements.errors import RequirementsError
from perpetualcc.requirements.reading import (
    parse_requirements,
    parse_statements,
    read_requirements,
    read_text,
)

__all__ = [
    "RequirementsError",
    "parse_requirements",
    "parse_statements",
    "read_requirements",
    "read_text",
]
