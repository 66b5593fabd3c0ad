"""
From the text of a command line to its simple commands.

It follows the script as the shell would: variables with known values, `cd`, branches, loops,
functions, substitutions, here-documents. Whatever it does not know becomes a `Problem`, and
the commands inside are still collected. Here is who reads which node of the grammar.
"""

from collections.abc import Mapping
from dataclasses import replace

from tree_sitter import Node

from perpetualcc.permissions.shell.assignments import (
    visit_arithmetic,
    visit_assignments,
    visit_declaration,
)
from perpetualcc.permissions.shell.compounds import (
    visit_branches,
    visit_for,
    visit_group,
    visit_loop,
    visit_subshell,
    visit_test,
)
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.shell.lists import visit_list, visit_pipeline, visit_redirected
from perpetualcc.permissions.shell.numbers import holds_subscript_code
from perpetualcc.permissions.shell.running import visit_function, visit_redirect
from perpetualcc.permissions.shell.script import Problem, Script, SimpleCommand
from perpetualcc.permissions.shell.simple_commands import visit_command
from perpetualcc.permissions.shell.standing import either
from perpetualcc.permissions.shell.substitutions import substitute
from perpetualcc.permissions.shell.walk import Stop, Visitor, Walk


def read_script(text: str, *, home: str, project: str, cwds: Directories) -> Script:
    """Read `text`. Never raises; what cannot be read is in `Script.problems`."""
    walk = Walk(home=home, project=project, cwds=cwds, visitors=_VISITORS, substitute=substitute)
    try:
        walk.read(text)
    except Stop:
        pass
    except RecursionError:
        walk.problem(Problem.TOO_DEEP, text[:60])
    if walk.expander.takes_numbers and (code := _subscript_code(walk.script)) is not None:
        walk.problem(Problem.UNKNOWN_CONSTRUCT, code)
    ends = either(walk.ends, walk.cwds)
    walk.script.commands[:] = [
        replace(one, cwds=either(one.cwds, ends)) if _is_trap(one) else one
        for one in walk.script.commands
    ]
    return walk.script


def _is_trap(command: SimpleCommand) -> bool:
    """Its code runs when the shell ends, and where that then stands."""
    return bool(command.words) and command.words[0].text == "trap"


def _subscript_code(script: Script) -> str | None:
    """
    `a[$(id)]` among the texts of the line: any value that is not known may be that.

    `x=$(echo 'a['; echo '$(id)]')` is one, too.
    """
    texts = [
        text
        for command in script.commands
        for text in (" ".join(word.text for word in command.words), command.stdin or "")
    ]
    printed = " ".join(t for t in texts if t.startswith(("echo ", "printf ", "print ")))
    return next(filter(holds_subscript_code, (*texts, printed)), None)


def _skip(_walk: Walk, _node: Node) -> None:
    """Comments, operators with names, the names of loop variables."""


_VISITORS: Mapping[str, Visitor] = {
    "program": Walk.visit_children,
    "command": visit_command,
    "list": visit_list,
    "pipeline": visit_pipeline,
    "redirected_statement": visit_redirected,
    "subshell": visit_subshell,
    "compound_statement": visit_group,
    "negated_command": Walk.visit_children,
    "if_statement": visit_branches,
    "elif_clause": visit_branches,
    "else_clause": visit_branches,
    "case_statement": visit_branches,
    "case_item": visit_branches,
    "while_statement": visit_loop,
    "for_statement": visit_for,
    "c_style_for_statement": visit_loop,
    "do_group": Walk.visit_children,
    "function_definition": visit_function,
    "variable_assignment": visit_assignments,
    "variable_assignments": visit_assignments,
    "declaration_command": visit_declaration,
    "unset_command": visit_declaration,
    "test_command": visit_test,
    "file_redirect": visit_redirect,
    "herestring_redirect": visit_redirect,
    "binary_expression": visit_arithmetic,
    "unary_expression": visit_arithmetic,
    "postfix_expression": visit_arithmetic,
    "parenthesized_expression": visit_arithmetic,
    "ternary_expression": visit_arithmetic,
    "variable_name": _skip,
    "word": _skip,
    "number": _skip,
    "comment": _skip,
}
