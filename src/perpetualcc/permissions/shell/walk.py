"""
One walk through the syntax tree of a script: who reads which node, what was found, where it is.

The constructs of the shell call one another, so each reaches the others through the walk: it is
given the table of who reads what. Texts inside the script, such as here-documents, are walked by
the same walk. It ends at the caps on size and depth.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NoReturn

from tree_sitter import Node

from perpetualcc.permissions.shell import grammar
from perpetualcc.permissions.shell.binding import ZSH_LISTS
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.shell.expander import Expander
from perpetualcc.permissions.shell.numbers import RUNS_AS_NUMBER
from perpetualcc.permissions.shell.outputs import known_output
from perpetualcc.permissions.shell.script import (
    UNKNOWN,
    Assignment,
    Problem,
    Script,
    SimpleCommand,
    Word,
)
from perpetualcc.permissions.shell.standing import Moment, Standing, either
from perpetualcc.permissions.shell.syntax import VALUES
from perpetualcc.permissions.shell.variables import is_given_secret
from perpetualcc.permissions.shell.words import unescape

DEPTH_LIMIT = 80
"""Nesting of the syntax tree beyond this is nothing a person wrote."""
COMMAND_LIMIT = 400
"""Simple commands in one script; more are not judged one by one."""
WORD_LIMIT = 20_000
"""Words in one script."""

_SPLIT = re.compile(
    r"\$(?:\\\n)+[({\[]|\$\((?:\\\n)+\(|[<>](?:\\\n)+[(<>&|]|&(?:\\\n)+[&>]|\|(?:\\\n)+[|&]"
)
"""`$\\` and `(` on the next line: one token to the shell, two to the grammar."""
_TIMED = re.compile(r"(?m)(^[ \t]*|[;&|(]\s*)time(?:\s+-p)?(?=\s+[({])")
"""`time { …; }`: the grammar knows `time` only before a simple command."""


class Stop(Exception):  # noqa: N818  # unwinds the walk; nothing went wrong
    """A cap was reached: the rest is not read."""


class Walk(Standing):
    """Follows a script as the shell would. Whatever it does not know becomes a `Problem`."""

    def __init__(
        self,
        *,
        home: str,
        project: str,
        cwds: Directories,
        visitors: Mapping[str, "Visitor"],
        substitute: Callable[["Walk", Node], tuple[str, str]],
    ) -> None:
        super().__init__(home=home, project=project, cwds=cwds)
        self.script = Script()
        self.project = project
        self.expander = Expander(
            self.variables,
            partial(substitute, self),
            between_backticks=self.between_backticks,
            hidden=self.hidden,
            bind=self.bind,
            prompt=self.prompt,
        )
        self._visitors = visitors
        self.bodies: dict[str, tuple[list[Node], str]] = {}
        """The parts of each function, and the text they are in."""
        self.settled: dict[str, Moment] = {}
        """The moment at which a call of this function is known to change nothing."""
        self.defining: set[str] = set()
        """Functions that are being read."""
        self.upstream: tuple[SimpleCommand, ...] = ()
        self.stdin: str | None = None
        self.is_fed_secret = False
        """There is a secret in that."""
        self.fed: tuple[SimpleCommand, ...] | None = None
        """The commands in `< <(…)` of a loop or group, which reads them; None: it reads a pipe."""
        self.depth, self.word_count, self.loop_product = 0, 0, 1
        self.following = self.reread = 0

    @property
    def source(self) -> str:
        """The text that is being read."""
        return self.expander.source

    def text(self, node: Node) -> str:
        return self.expander.text(node)

    def problem(self, problem: Problem, part: str) -> None:
        self.script.problems.append((problem, part[:60]))

    def stop(self, problem: Problem, part: str) -> NoReturn:
        self.problem(problem, part)
        raise Stop

    # Nodes

    def visit(self, node: Node) -> None:
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            self.stop(Problem.TOO_DEEP, self.text(node))
        visitor = self._visitors.get(node.type)
        if visitor is not None and _BEHIND.match(self.source, node.end_byte):
            with self.isolated():
                visitor(self, node)
        elif visitor is not None:
            visitor(self, node)
        elif node.is_named:
            is_error = node.is_error or node.is_missing
            self.problem(Problem.SYNTAX if is_error else Problem.UNKNOWN_CONSTRUCT, self.text(node))
            self.visit_children(node)
        elif node.is_missing:
            self.problem(Problem.SYNTAX, self.text(node))
        self.depth -= 1

    def visit_children(self, node: Node) -> None:
        for child in self.children(node):
            cwds = self.cwds
            self.visit(child)
            if self.cwds is not cwds:  # `cd x; y`: had `cd` failed, `y` would run where it was
                self.stand(either(self.cwds, cwds))

    def children(self, node: Node) -> list[Node]:
        """The children; text between them that is more than blanks is a syntax problem."""
        children, source = node.children, self.expander.source
        end, was_named = node.start_byte, False
        for child in children:
            start = child.start_byte
            if source[start - 2 : start] == "\n\\":  # `\rm` at the beginning of a line
                start -= 1
            if start > end + 1 or source[end:start].strip(" "):
                self._check_gap(source[end:start], in_words=was_named and child.is_named)
            end, was_named = child.end_byte, child.is_named
        return children

    def _check_gap(self, text: str, *, in_words: bool) -> None:
        """Between two words a backslash before a newline alone makes them one: no gap is left."""
        gap = text.replace("\\\n", "")
        if gap.strip(" \t\n") or (in_words and not gap):
            self.problem(Problem.SYNTAX, text)

    def words(self, node: Node) -> list[Word]:
        if node.is_error or node.is_missing or node.type not in VALUES:
            self.problem(Problem.SYNTAX, self.text(node))
            self.visit_children(node)
            return [Word(UNKNOWN)]
        if node.has_error:
            self.problem(Problem.SYNTAX, self.text(node))
        return self.expander.words(node)

    # Texts

    def read(self, text: str) -> None:
        """Walk through `text` as if it stood here."""
        if "time" in text:
            text = _TIMED.sub(lambda match: match[1] + " " * (len(match[0]) - len(match[1])), text)
        if "\\\n" in text and (split := _SPLIT.search(text)):
            self.problem(Problem.UNKNOWN_CONSTRUCT, split[0])
        root = grammar.parse(text)
        if root is None:
            self.stop(Problem.TOO_LONG, text)
        outer, self.expander.source = self.expander.source, text
        known = len(self.script.problems)
        self.visit(root)
        if root.has_error and len(self.script.problems) == known:
            self.problem(Problem.SYNTAX, text)
        self.expander.source = outer

    def substituted(self, code: str, read: Callable[[], None]) -> tuple[str, str]:
        """What a substitution runs, which `read` reads: its source, and its value where known."""
        self.depth += 1
        self.word_count += 1
        if self.depth > DEPTH_LIMIT or self.word_count > WORD_LIMIT:
            self.stop(Problem.TOO_DEEP, code)
        upstream, self.upstream = self.upstream, ()
        stdin, is_fed_secret = self.stdin, self.is_fed_secret
        self.stdin, self.is_fed_secret = None, False
        start, problems = len(self.script.commands), len(self.script.problems)
        with self.isolated():
            read()
        self.upstream, self.stdin, self.is_fed_secret = upstream, stdin, is_fed_secret
        self.depth -= 1
        is_read = len(self.script.problems) == problems
        value = self.printed(self.script.commands[start:]) if is_read else UNKNOWN
        return code.strip("`$()< >\n\t"), value

    def printed(self, commands: Sequence[SimpleCommand]) -> str:
        """What these commands print, where that is known."""
        cwd = (self.cwds[0] or UNKNOWN) if len(self.cwds) == 1 else UNKNOWN
        return known_output(commands, project=self.project, cwd=cwd)

    def between_backticks(self, code: str) -> tuple[str, str]:
        """A substitution with its backticks, within which a backslash has a meaning."""
        return self.substituted(code, lambda: self.read(_inside_backticks(code)))

    def hidden(self, text: str) -> None:
        """Read what runs in what the grammar took for plain characters."""
        self.problem(Problem.UNKNOWN_CONSTRUCT, text)
        self.document(text)

    def document(self, text: str) -> str:
        """Read `text` as a here-document of its own, and what it says."""
        end = "E"
        while end in text:
            end += "E"
        # the first line is ours: the grammar takes `\$` at the beginning of one for a word
        self.substituted(text, lambda: self.read(f": <<{end}\n:\n{text}\n{end}\n"))
        commands = self.script.commands
        return (commands.pop().stdin or "")[2:-1] if commands else ""

    # Variables

    def bind(self, name: str, value: str, node: Node) -> None:
        """Whatever gives a variable its value is an assignment; only some names mean something."""
        self.variables.set(name, value)
        if RUNS_AS_NUMBER.search(value):
            self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(node))
        secrets = self.variables.secrets
        is_secret = name in secrets or is_given_secret(self.text(node), secrets)
        if is_secret:
            self.variables.secrets.add(name)
        assignment = Assignment(name=name, value=Word(value), is_secret=is_secret)
        is_known_name = name.isupper() or name in ZSH_LISTS
        if not is_known_name:
            self.script.bound.append(assignment)
        elif len(self.script.commands) < COMMAND_LIMIT:
            self.script.commands.append(
                SimpleCommand(
                    words=(),
                    source=self.text(node)[:400],
                    assignments=(assignment,),
                    cwds=self.cwds,
                )
            )

    def prompt(self, value: str, node: Node) -> None:
        """`${x@P}`: what is in the value runs, as it would in a prompt."""
        words = (Word("eval"), Word(value))
        command = SimpleCommand(words=words, source=self.text(node)[:400], cwds=self.cwds)
        self.script.commands.append(command)


_BEHIND = re.compile(r"(?:[ \t]|\\\n)*&(?![&>])")
"""What `&` stands behind runs in a shell of its own."""
Visitor = Callable[[Walk, Node], None]
"""Reads one kind of node."""


def _inside_backticks(code: str) -> str:
    """Between backticks a backslash escapes `$`, a backtick and itself."""
    text = code[1:-1]
    for escaped in ("\\`", "\\$", "\\\\"):
        text = text.replace(escaped, unescape(escaped))
    return text
