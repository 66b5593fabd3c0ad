"""Commands inside words: what `$(…)`, backticks and `<(…)` run, and what they become."""

from tree_sitter import Node

from perpetualcc.permissions.shell.expander import HIDES, holds_backtick
from perpetualcc.permissions.shell.running import emit_redirect
from perpetualcc.permissions.shell.script import UNKNOWN
from perpetualcc.permissions.shell.syntax import REDIRECTS
from perpetualcc.permissions.shell.walk import Walk


def substitute(walk: Walk, node: Node) -> tuple[str, str]:
    """Read what a substitution runs: its source, and its value where that is known."""
    code = walk.text(node)
    if node.children[0].type[-1:] == "`":  # what is before it, the grammar puts into it
        code = code[code.index("`") :]
    if code.startswith("`") and holds_backtick(code[1:-1]):
        walk.hidden(code)  # two with at most blanks between: the grammar makes one of them
        return code, UNKNOWN
    if code.startswith("`") and "\\" in code:
        return walk.between_backticks(code)
    check_number(walk, code.removeprefix("$"))
    code, value = walk.substituted(code, lambda: _visit_inside(walk, node))
    return code, UNKNOWN if node.type == "process_substitution" else value


def _visit_inside(walk: Walk, node: Node) -> None:
    for child in walk.children(node):
        if child.type in REDIRECTS:
            emit_redirect(walk, child, node)
        else:
            walk.visit(child)


def check_number(walk: Walk, code: str) -> None:
    """`((a 'b'))`, which the grammar takes for a subshell in another, is a number to bash."""
    joined = code.replace("\\\n", "")  # `)\\` and `)` on the next line
    if joined.startswith("((") and joined.endswith("))") and HIDES.search(code):
        walk.hidden(joined[2:-2])
