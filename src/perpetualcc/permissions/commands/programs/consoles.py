"""Code that a framework runs with the project's database: `manage.py shell -c`, `rails runner`."""

import re
from functools import cache

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.programs.interpreters import printed_text, without_texts
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.knowledge import load_table

_IMPORT = re.compile(
    r"(?:^|(?<=[;\n]))\s*from [\w.]+ import [A-Z]\w*(?:, *[A-Z]\w*)*\s*(?=[;\n]|\Z)"
)
_FILE = re.compile(r"[\w./~-]+\.\w{2}|[\w.~-]*/[\w./~-]+")
_MEMBER = re.compile(r"(?:\.|&:|::)\s*([A-Za-z_]\w*)")
_FREE = re.compile(r"(?<![\w.:@$])(?:@{0,2}|\$)([A-Za-z_]\w*)(?!\w*:|\w*\s*=(?![=>~]))")
_MODEL = re.compile(r"[A-Z]\w*[a-z]\w*")
_CALLED_MODEL = re.compile(r"\b[A-Z]\w*\s*\(")


@handles("console")
def console(call: Call) -> Findings:
    """Where it cannot be proven that the code only asks for rows, a person answers for it."""
    code = _code(call)
    if code is not None and _only_asks(code):
        return []
    why = "The code may change the project's database: not all that it calls is known to only read"
    if code is None:
        why = "The code that it runs with the project's database is not seen here"
    return [call.finding(Risk.HIGH, "console", why, EffectKind.EXECUTE, EffectKind.DELETE)]


def _code(call: Call) -> str | None:
    given = [
        g.value.text for g in call.arguments.given if g.name in {"-c", "--command"} and g.value
    ]
    if given:
        return "\n".join(given)
    operands = [word.text for word in call.arguments.operands]
    if operands and operands != ["-"]:
        return None if len(operands) > 1 or _FILE.fullmatch(operands[0]) else operands[0]
    return call.command.stdin if call.command.stdin is not None else printed_text(call)


def _only_asks(code: str) -> bool:
    """Every method is one that asks, every other name a model, a name of a value or a print."""
    bare = without_texts(code)
    if bare is None or "<<" in bare or _CALLED_MODEL.search(bare):
        return False
    bare = _IMPORT.sub("", bare)
    harmless, reads = _known()
    members = set(_MEMBER.findall(bare))
    free = {name for name in _FREE.findall(bare) if not _MODEL.fullmatch(name)}
    return members <= (harmless | reads) and free <= harmless


@cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    table = load_table("inline_code")
    return frozenset(table["harmless"]) - {"import"}, frozenset(table["reads"])
