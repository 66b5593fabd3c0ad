"""Numbers: which variables `$((x = 1))` sets, and where a value is taken for a number."""

import re

from tree_sitter import Node

COMPARES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"})
"""Operators of `[[ … ]]` that take what stands beside them for numbers, or for names."""
RUNS_AS_NUMBER = re.compile(r"\[.*(?:\$\(|`)", re.DOTALL)
"""`a[$(id)]` as plain text: where the shell expects a number or a name, it runs `id`."""
_SUBSCRIPTS = re.compile(r"\w(?:\\\n?)*\[|[\[\]`]|[$<>](?:\\\n?)*\(")
"""What opens and closes a subscript, and what runs in one; `read` drops backslashes."""
_EXPRESSIONS = frozenset(
    {"arithmetic_expansion", "binary_expression", "unary_expression", "postfix_expression",
     "ternary_expression", "parenthesized_expression"}
)  # fmt: skip
_COMPARISONS = frozenset({"==", "!=", "<=", ">="})


def variable_set(node: Node) -> Node | None:
    """The variable that this expression gives a number: `x = 1`, `x += 1`, `x++`."""
    if node.type not in _EXPRESSIONS:
        return None
    is_set = any(
        child.type in {"++", "--"} or (child.type[-1:] == "=" and child.type not in _COMPARISONS)
        for child in node.children
        if not child.is_named
    )
    names = [child for child in node.children if child.type in {"variable_name", "word"}]
    return names[0] if is_set and names else None


def takes_a_number(node: Node) -> bool:
    """Whether it takes a value from elsewhere for a number: `$((x))`, `${a[x]}`, `${y:x}`."""
    if node.type in _EXPRESSIONS:
        parts = node.named_children
    elif node.type == "subscript":
        parts = node.named_children[1:]
    elif node.type == "expansion":
        colon = next((at for at, child in enumerate(node.children) if child.type == ":"), None)
        parts = [] if colon is None else [c for c in node.children[colon:] if c.is_named]
    else:
        return False
    return any(part.type != "number" and part.text not in {b"@", b"*"} for part in parts)


def holds_subscript_code(text: str) -> bool:
    """`a[$(id)]` as plain text: wherever it ends up as a number, it runs `id`."""
    depth = 0
    for found in _SUBSCRIPTS.finditer(text):
        match found[0]:
            case "]":
                depth = max(0, depth - 1)
            case "[":
                depth += depth > 0
            case sign if sign[-1] == "[":
                depth += 1
            case _ if depth:
                return True
    return False
