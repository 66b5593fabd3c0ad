"""
From the text of a command line to its simple commands.

It follows the script as the shell would: variables with known values, `cd`, branches, loops,
functions, substitutions, here-documents. Whatever it does not know becomes a `Problem`, and
the commands inside are still collected. Over 500 lines because the constructs of the shell call
one another. What is known at each point is in `standing`, streams are in `redirects`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NoReturn

from tree_sitter import Node

from perpetualcc.permissions.shell import grammar
from perpetualcc.permissions.shell.binding import ZSH_LISTS, assigned, filled, is_another
from perpetualcc.permissions.shell.directories import DIRECTORY_COMMANDS, Directories
from perpetualcc.permissions.shell.expander import HIDES, PLAIN_LEAVES, Expander, holds_backtick
from perpetualcc.permissions.shell.numbers import COMPARES, RUNS_AS_NUMBER, holds_subscript_code
from perpetualcc.permissions.shell.outputs import known_output
from perpetualcc.permissions.shell.redirects import Redirects, read_redirect
from perpetualcc.permissions.shell.script import (
    UNKNOWN,
    Assignment,
    Problem,
    Script,
    SimpleCommand,
    Word,
)
from perpetualcc.permissions.shell.standing import Moment, Standing, either
from perpetualcc.permissions.shell.syntax import (
    INSIDE_HEREDOC,
    REDIRECTS,
    SUBSTITUTIONS,
    VALUES,
)
from perpetualcc.permissions.shell.words import unescape

DEPTH_LIMIT = 80
"""Nesting of the syntax tree beyond this is nothing a person wrote."""
COMMAND_LIMIT = 400
"""Simple commands in one script; more are not judged one by one."""
WORD_LIMIT = 20_000
"""Words in one script."""
FOLLOW_LIMIT = 8
"""`eval` in `eval`; as deep as commands inside commands are judged."""
REREAD_LIMIT = 50_000
"""Characters of functions that are read again for a call, and a hundred for the call itself."""
LOOP_VALUES = 16
"""A loop over at most this many known words is followed word by word."""


def read_script(text: str, *, home: str, project: str, cwds: Directories) -> Script:
    """Read `text`. Never raises; what cannot be read is in `Script.problems`."""
    reader = _Reader(home=home, project=project, cwds=cwds)
    try:
        reader.read(text)
    except _Stop:
        pass
    except RecursionError:
        reader.problem(Problem.TOO_DEEP, text[:60])
    if reader.expander.takes_numbers and (code := reader.subscript_code()) is not None:
        reader.problem(Problem.UNKNOWN_CONSTRUCT, code)
    return reader.script


class _Stop(Exception):  # noqa: N818  # unwinds the walk; nothing went wrong
    """A cap was reached: the rest is not read."""


class _Reader(Standing):
    def __init__(self, *, home: str, project: str, cwds: Directories) -> None:
        super().__init__(home=home, project=project, cwds=cwds)
        self.script = Script()
        self.project = project
        self.expander = Expander(
            self.variables,
            self.substitution,
            between_backticks=self.between_backticks,
            hidden=self.hidden,
            bind=self.bind,
            prompt=self.prompt,
        )
        self.bodies: dict[str, tuple[list[Node], str]] = {}
        self.settled: dict[str, Moment] = {}
        self.defining: set[str] = set()
        self.upstream: tuple[SimpleCommand, ...] = ()
        self.stdin: str | None = None
        self.fed: tuple[SimpleCommand, ...] | None = None
        self.depth, self.word_count, self.loop_product = 0, 0, 1
        self.following = self.reread = 0

    def read(self, text: str) -> None:
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

    def problem(self, problem: Problem, part: str) -> None:
        self.script.problems.append((problem, part[:60]))

    def stop(self, problem: Problem, part: str) -> NoReturn:
        self.problem(problem, part)
        raise _Stop

    @property
    def source(self) -> str:
        return self.expander.source

    def text(self, node: Node) -> str:
        return self.expander.text(node)

    def subscript_code(self) -> str | None:
        """`a[$(id)]` among the texts of the line: any value that is not known may be that."""
        texts = (
            text
            for command in self.script.commands
            for text in (" ".join(word.text for word in command.words), command.stdin or "")
        )
        return next(filter(holds_subscript_code, texts), None)

    # Structure

    def visit(self, node: Node) -> None:
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            self.stop(Problem.TOO_DEEP, self.text(node))
        visitor = _VISITORS.get(node.type)
        if visitor is not None:
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
        children = node.children
        end, was_named = node.start_byte, False
        for child in children:
            if child.start_byte > end + 1 or self.source[end : child.start_byte].strip(" "):
                self.check_gap(end, child.start_byte, in_words=was_named and child.is_named)
            end, was_named = child.end_byte, child.is_named
        return children

    def check_gap(self, start: int, end: int, *, in_words: bool) -> None:
        """Between two words a backslash before a newline alone makes them one: no gap is left."""
        gap = self.source[start:end].replace("\\\n", "")
        if gap.strip(" \t\n") or (in_words and not gap):
            self.problem(Problem.SYNTAX, self.source[start:end])

    def visit_list(self, node: Node) -> None:
        """`a && b || c`: the first runs, the others may; `cd x && y` is certain inside `y`."""
        self.list_with(node, self.visit)

    def list_with(self, node: Node, visit_last: Callable[[Node], None]) -> None:
        before = self.snapshot()
        self.visit_list_parts(node, before, visit_last, after_or=False)
        self.merge(before)

    def visit_list_parts(
        self, node: Node, before: Moment, visit_last: Callable[[Node], None], *, after_or: bool
    ) -> bool:
        """Lists lean to the left, `(a && b) || c`. After `||` anything before may have failed."""
        children = self.children(node)
        for child in children:
            if child.type == "list":
                after_or = self.visit_list_parts(child, before, self.visit, after_or=after_or)
            elif child.is_named:
                (visit_last if child is children[-1] else self.visit)(child)
            after_or = after_or or child.type == "||"
            if after_or:
                self.merge(before)
        return after_or

    def visit_pipeline(self, node: Node) -> None:
        self.pipeline_with(node, self.visit)

    def pipeline_with(self, node: Node, visit_last: Callable[[Node], None]) -> None:
        parts = [child for child in self.children(node) if child.is_named]
        runs = [partial(self.visit, child) for child in parts[1:-1]]
        runs += [partial(visit_last, child) for child in parts[-1:]]
        if len(parts) > 1:
            self.lead(parts[0], lambda run: self.pipe([run, *runs]))
        else:
            self.pipe(runs)

    def lead(self, node: Node, then: Callable[[Callable[[], None]], None]) -> None:
        """
        Visit what stands before a pipe, and `then` the pipe, told how its first part is visited.

        In `cd x && ls 2>&1 | cat` the grammar has the whole list in the pipe: `cd x` is not.
        """
        body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
        if body is not None and body.type == "list":
            self.list_with(body, lambda last: then(lambda: self.with_streams(node, body, last)))
        elif body is not None and body.type == "pipeline":
            first, *more = [child for child in self.children(body) if child.is_named]
            runs = [partial(self.visit, child) for child in more[:-1]]
            runs += [partial(self.with_streams, node, body, child) for child in more[-1:]]
            self.lead(first, lambda run: then(lambda: self.pipe([run, *runs])))
        else:
            then(lambda: self.visit(node))

    def pipe(self, runs: Sequence[Callable[[], None]]) -> None:
        """To zsh the last part is this very shell: `ls | cd ..` moves it, or not."""
        outer, fed, start = self.upstream, self.fed, len(self.script.commands)
        for run in runs[:-1]:
            with self.isolated():
                run()
            self.upstream = outer + tuple(self.script.commands[start:])
            self.fed = None
        before = self.snapshot()
        for run in runs[-1:]:
            run()
        self.merge(before)
        self.upstream, self.fed = outer, fed

    def check_number(self, code: str) -> None:
        """`((a 'b'))`, which the grammar takes for a subshell in another, is a number to bash."""
        joined = code.replace("\\\n", "")  # `)\\` and `)` on the next line
        if joined.startswith("((") and joined.endswith("))") and HIDES.search(code):
            self.hidden(joined[2:-2])

    def visit_subshell(self, node: Node) -> None:
        self.check_number(self.text(node))
        with self.isolated():
            self.visit_children(node)

    def visit_branches(self, node: Node) -> None:
        """`if`, `case` and their parts: each part may run or not."""
        before = self.snapshot()
        for child in self.children(node):
            if child.type in _INSTEAD:  # what came before it did not run
                self.merge(before)
            if child.type in VALUES:
                self.words(child)
            else:
                self.visit(child)
        self.merge(before)

    def visit_function(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        own = "" if name is None else self.text(name)
        self.functions |= {own}
        parts = [child for child in self.children(node) if child.is_named and child != name]
        self.bodies[own] = parts, self.source
        self.settled.pop(own, None)
        before = self.snapshot()
        self.stand((*self.cwds, None))
        self.body(own)
        self.cwds = before[1]
        self.merge(before)

    def body(self, name: str) -> None:
        """Read a function as it would run now."""
        outer = self.expander.source
        parts, self.expander.source = self.bodies[name]
        self.defining.add(name)
        for child in parts:
            if child.type in REDIRECTS:
                self.emit_redirects([child], child)
            else:
                self.visit(child)
        self.defining.discard(name)
        self.expander.source = outer

    def called(self, name: str, node: Node) -> None:
        """A function does now what its variables say now, and may change them."""
        before = self.snapshot()
        is_alone = not self.upstream and self.stdin is None
        if name in self.defining or (is_alone and self.settled.get(name) == before):
            return
        self.following += 1
        if self.following > FOLLOW_LIMIT:
            self.stop(Problem.TOO_DEEP, self.text(node))
        self.reread += 100 + sum(part.end_byte - part.start_byte for part in self.bodies[name][0])
        if self.reread > REREAD_LIMIT:
            self.stop(Problem.TOO_LONG, self.text(node))
        self.body(name)
        self.merge(before)
        if is_alone and self.snapshot() == before:  # the next call can do nothing else
            self.settled[name] = before
        self.following -= 1

    def visit_loop(self, node: Node) -> None:
        """The body twice, when the first pass changed what the second would see."""
        before = self.snapshot()
        self.expander.takes_numbers |= node.type == "c_style_for_statement"
        self.visit_children(node)
        self.merge(before)
        if self.snapshot() == before:
            return
        if self.cwds != before[1]:
            self.stand((*before[1], None))
        self.visit_children(node)
        self.merge(before)

    def visit_for(self, node: Node) -> None:
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if name is None or body is None:
            self.problem(Problem.SYNTAX, self.text(node))
            return
        given = [
            child for child in self.children(node) if child.is_named and child not in (name, body)
        ]
        values = [word.text for child in given for word in self.words(child)]
        if any(RUNS_AS_NUMBER.search(value) for value in values):
            self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(name))
        is_followed = self.loop_product * len(values) <= LOOP_VALUES
        if not values or not is_followed or any(UNKNOWN in value for value in values):
            values = [UNKNOWN]
        outer, self.loop_product = self.loop_product, self.loop_product * len(values)
        for value in values:
            self.bind(self.text(name), value, name)
            self.visit_loop(body)
        self.loop_product = outer
        self.variables.set(self.text(name), UNKNOWN)

    def visit_arithmetic(self, node: Node) -> None:
        """Numbers and names are harmless; substitutions run, and subscripts can run code."""
        self.expander.count(node)
        for child in node.children:
            if child.type in SUBSTITUTIONS:
                self.words(child)
            elif child.type == "variable_assignment":
                self.assign(child)
            elif child.type in PLAIN_LEAVES and HIDES.search(text := self.text(child)):
                self.hidden(text)
            else:
                if child.type == "subscript" or child.is_error:
                    self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(child))
                self.visit_arithmetic(child)

    def visit_compound(self, node: Node) -> None:
        """`{ …; }`, and `((…))`, which the grammar calls the same."""
        if node.child_count and node.children[0].type == "((":
            self.expander.takes_numbers = True
            self.visit_arithmetic(node)
        else:
            self.visit_children(node)

    def visit_test(self, node: Node) -> None:
        for child in node.children:
            if child.type == "test_operator" and self.text(child) in COMPARES:
                self.expander.takes_numbers = True
            if child.is_error or child.is_missing or "[" in child.type[2:]:
                self.problem(Problem.SYNTAX, self.text(node))
            if child.type in VALUES:
                is_fed = child.type == "regex" and _FED_PATTERN.search(self.text(child))
                if is_fed or any(RUNS_AS_NUMBER.search(w.text) for w in self.words(child)):
                    self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(child))
            else:
                self.visit_test(child)

    # Commands

    def visit_command(self, node: Node) -> None:
        self.command(node, Redirects(), self.settle(node))

    def command(self, node: Node, redirects: Redirects, settled: int) -> None:
        start = len(self.script.commands)
        words: list[Word] = []
        whole: list[Word] = []
        assignments: list[Assignment] = []
        end = -1
        for child in self.children(node)[settled:]:
            known = len(words)
            if end >= 0 and self.ends_line(end, child.start_byte):
                self.problem(Problem.SYNTAX, self.text(node))
            if child.type == "command_name":
                words += [word for part in child.children for word in self.words(part)]
            elif child.type == "variable_assignment":
                assignments += self.assignment(child)
            elif child.type in REDIRECTS:
                read_redirect(self, child, redirects)
            elif child.is_named:
                if self.text(child) in _BRACES:
                    self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(node))
                words += self.words(child)
                if child.start_byte == end and 0 < known < len(words):  # `--config=<(id)` is one
                    words[known - 1 : known + 1] = [_joined(*words[known - 1 : known + 1])]
            else:
                self.odd_token(child, words)
            end = child.end_byte
            whole += self.undivided(child, words[known:])
        self.emit(words + redirects.words, assignments, redirects, node, start)
        if len(whole) < len(words) and any(_TAKES_CODE.fullmatch(word.text) for word in whole):
            before = self.snapshot()
            self.emit(whole + redirects.words, assignments, redirects, node, start)
            self.merge(before)

    def ends_line(self, start: int, end: int) -> bool:
        return "\n" in self.source[start:end].replace("\\\n", "")

    def settle(self, node: Node) -> int:
        """
        Take `A=1 B=2` with a line of its own out of the command on the next, of which the grammar
        makes it a part. How many children that were.
        """
        count = 0
        for index, child in enumerate(node.children[:-1]):
            if child.type not in {"variable_assignment", "comment"}:
                break
            if self.ends_line(child.end_byte, node.children[index + 1].start_byte):
                count = index + 1
        if count:
            start, own = len(self.script.commands), node.children[:count]
            assignments = [found for child in own for found in self.assign(child)]
            self.emit([], assignments, Redirects(), node, start)
        return count

    def undivided(self, node: Node, words: list[Word]) -> list[Word]:
        """To zsh a variable's value is one word: `v='ls # x<newline>rm y'; eval $v` runs `rm`."""
        if node.type not in _VALUE_OF_VARIABLES or len(words) < 2:
            return words
        with self.expander.undivided():
            return self.expander.words(node)

    def odd_token(self, node: Node, words: list[Word]) -> None:
        """Tokens of `[[ … ]]` that the grammar lets stand in a command, and stray parentheses."""
        if node.is_missing or node.type in {"(", ")"}:
            self.problem(Problem.SYNTAX, self.text(node))
        words.append(Word(self.text(node)))

    def emit(
        self,
        words: list[Word],
        assignments: list[Assignment],
        redirects: Redirects,
        node: Node,
        start: int,
    ) -> None:
        self.word_count += len(words)
        if len(self.script.commands) >= COMMAND_LIMIT or self.word_count > WORD_LIMIT:
            self.stop(Problem.TOO_LONG, self.text(node))
        self.check_streams(redirects, node)
        name = words[0].text if words else ""
        if name and name in self.defining:
            self.problem(Problem.RECURSION, self.text(node))
        command = SimpleCommand(
            words=tuple(words),
            source=self.text(node)[:400],
            assignments=tuple(assignments),
            redirections=tuple(redirects.redirections),
            cwds=self.cwds,
            stdin=redirects.stdin if redirects.stdin is not None else self.stdin,
            upstream=self.upstream,
            feeds=tuple(self.script.commands[start:]),
            calls_function=name in self.functions,
        )
        self.script.commands.append(command)
        before = self.snapshot() if name in self.bodies else None
        if before is not None:
            self.called(name, node)
        self.change(name, command, node)
        if before is not None:
            self.merge(before)

    def check_streams(self, redirects: Redirects, node: Node) -> None:
        """Of a pipe and a file bash reads the file, and zsh both."""
        if redirects.feeds and _is_fed_by_pipe(node):
            self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(node))

    def change(self, name: str, command: SimpleCommand, node: Node) -> None:
        """What the shell's own commands change in it."""
        words = command.words
        if name in _SAME_SHELL:
            self.follow(command, node)
        elif name in DIRECTORY_COMMANDS:
            self.change_directory(command)
        elif name in {"source", "."} and any(map(self.is_written, words[1:2])):
            self.variables.forget(tuple(self.variables.snapshot()))
            self.stand((None,))
        elif name == "test" and any(word.text in COMPARES for word in words):
            self.expander.takes_numbers = True
        elif name in _VARIABLE_COMMANDS:
            self.variables.forget(word.text for word in words[1:])
            # A name may have a subscript, which is a number.
            self.expander.takes_numbers |= any(UNKNOWN in word.text for word in words[1:])
            if name in {"unset", "unfunction"}:
                self.functions -= {word.text for word in words}
            if name in {"read", "printf"}:
                for bound, value in filled(command):
                    self.bind(bound, value, node)
            if name == "read":
                self.fill(command)

    def is_written(self, word: Word) -> bool:
        """Whether a file's text comes from this very line, and not from the project."""
        return (
            bool(word.code)
            or word.text.startswith("/dev/")
            or any(
                word.text
                in (target.text for target in (*(r.target for r in c.redirections), *c.words))
                for c in self.script.commands[:-1]
                if c.redirections or (c.words and c.words[0].text == "tee")
            )
        )

    def follow(self, command: SimpleCommand, node: Node) -> None:
        """`eval "cd x"`, `command cd x`: judged elsewhere, and it changes this very shell."""
        name, *words = command.words
        while words and words[0].text in {"-p", "--"}:
            words.pop(0)
        if name.text == "repeat":
            if words and RUNS_AS_NUMBER.search(words[0].text):
                self.problem(Problem.UNKNOWN_CONSTRUCT, words[0].text)
            self.expander.takes_numbers = True
            words = words[1:]
        elif name.text == "trap":
            words = words[:1]
        before = self.snapshot()
        self.following += 1
        if self.following > FOLLOW_LIMIT:
            self.stop(Problem.TOO_DEEP, self.text(node))
        commands, problems = len(self.script.commands), len(self.script.problems)
        try:
            if name.text in {"eval", "trap"}:
                self.read(" ".join(word.text for word in words))
            elif words:
                self.emit(words, [], Redirects(), node, commands)
        finally:
            del self.script.commands[commands:]
        del self.script.problems[problems:]
        self.following -= 1
        if name.text in {"command", "repeat", "trap"}:  # to zsh, `command cd` is a program
            self.merge(before)

    def fill(self, command: SimpleCommand) -> None:
        """`find src | while read -r f`: a line is one of the names that are listed."""
        names = [w.text for w in command.words[1:] if w.text and not _LINE_OPTION.match(w.text)]
        if len(names) == 1 and names[0].isidentifier():
            sources = command.upstream if self.fed is None else self.fed
            is_own = bool(command.redirections) or command.stdin is not None
            value = self.variables.get(names[0]) if is_own else self.printed(sources)
            is_name = UNKNOWN not in value and len(value.split()) == 1
            self.variables.set(names[0], value if is_name else UNKNOWN)

    def bind(self, name: str, value: str, node: Node) -> None:
        """Whatever gives a variable its value is an assignment; only some names mean something."""
        self.variables.set(name, value)
        if RUNS_AS_NUMBER.search(value):
            self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(node))
        is_known_name = name.isupper() or name in ZSH_LISTS
        if is_known_name and len(self.script.commands) < COMMAND_LIMIT:
            assignment = Assignment(name=name, value=Word(value))
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

    def visit_assignments(self, node: Node) -> None:
        """Assignments alone on a line."""
        start = len(self.script.commands)
        nodes = [node] if node.type == "variable_assignment" else node.children
        assignments = [found for child in nodes for found in self.assign(child)]
        self.emit([], assignments, Redirects(), node, start)

    def visit_declaration(self, node: Node) -> None:
        """`export`, `declare`, `local`, `readonly`, `typeset`, `unset`."""
        start = len(self.script.commands)
        first, *rest = self.children(node)
        words, assignments, end = [Word(self.text(first))], [], first.end_byte
        for child in rest:
            if child.type == "variable_assignment":
                assignments += self.assign(child)
            elif child.is_named:
                more = self.words(child)
                if more and child.start_byte == end and len(words) > 1:  # `export PATH"=/x"`
                    more[0] = Word(words.pop().text + more[0].text)
                words += more
            end = child.end_byte
        if words[0].text == "local" and not self.defining:  # bash refuses it here
            self.variables.forget(assignment.name for assignment in assignments)
        assignments += [found for word in words[1:] for found in self.declared(word, node)]
        self.expander.takes_numbers |= any(_COUNTED.fullmatch(word.text) for word in words[1:])
        if is_another(words):
            self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(node))
        self.emit(words, assignments, Redirects(), node, start)

    def declared(self, word: Word, node: Node) -> list[Assignment]:
        """`export "A=1"`, and `A=1; export A`: what other programs are given from here on."""
        bound = assigned(word)
        if bound is None:
            value = Word(self.variables.get(word.text))
            is_given = self.variables.is_given(word.text)
            return [Assignment(name=word.text, value=value)] if is_given else []
        self.variables.set(*bound)
        if RUNS_AS_NUMBER.search(bound[1]):
            self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(node))
        return [Assignment(name=bound[0], value=Word(bound[1]))]

    def assign(self, node: Node) -> list[Assignment]:
        found = self.assignment(node)
        target = node.child_by_field_name("name")
        is_part = (target is not None and target.type == "subscript") or (
            (value := node.child_by_field_name("value")) is not None and value.type == "array"
        )
        for assignment in found:
            self.variables.set(assignment.name, UNKNOWN if is_part else assignment.value.text)
        return found

    def assignment(self, node: Node) -> list[Assignment]:
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if target is None:
            return []
        if target.type == "subscript":
            self.visit_arithmetic(target)
        name = self.text(target).split("[")[0]
        if value is None:
            return [Assignment(name=name, value=Word(""))]
        if value.type == "array":
            words = [
                word for child in value.children if child.is_named for word in self.words(child)
            ]
        else:
            with self.expander.undivided():  # neither shell divides what it assigns
                words = self.words(value)
        if RUNS_AS_NUMBER.search(" ".join(word.text for word in words)):
            self.problem(Problem.UNKNOWN_CONSTRUCT, self.text(node))
        is_list = value.type == "array"
        if is_list and name in ZSH_LISTS:
            return [Assignment(name=name, value=Word(":".join(word.text for word in words)))]
        if len(words) != 1 or is_list or any(c.type == "+=" for c in node.children):
            return [Assignment(name=name, value=Word(UNKNOWN))]
        return [Assignment(name=name, value=words[0])]

    # Redirections

    def visit_redirected(self, node: Node) -> None:
        """`cd x && y > z` is `cd x`, and then `y > z`; the grammar has `> z` behind the list."""
        body = node.child_by_field_name("body")
        self.with_streams(node, body, body)

    def with_streams(self, node: Node, whole: Node | None, body: Node | None) -> None:
        """To the last command in `body` belong the streams that `node` gives the `whole`."""
        if body is not None and body.type == "list":
            self.list_with(body, lambda last: self.with_streams(node, whole, last))
        elif body is not None and body.type == "pipeline":
            self.pipeline_with(body, lambda last: self.with_streams(node, whole, last))
        else:
            self.redirected(node, whole, body)

    def redirected(self, node: Node, whole: Node | None, body: Node | None) -> None:
        """`body`, which is `whole` or the last part of it, with the streams of `node`."""
        is_simple = body is not None and body.type == "command"
        settled = self.settle(body) if body is not None and is_simple else 0
        start = len(self.script.commands)
        redirects = Redirects(words=self.lost_dash(node, whole))
        nodes = [child for child in node.children if child != whole]
        for child in nodes:
            read_redirect(self, child, redirects)
        if body is not None and is_simple:
            self.command(body, redirects, settled)
        else:
            self.compound_with(body, redirects, node, start)
        for child in nodes:
            if child.type == "heredoc_redirect":
                self.after_heredoc(child, start)

    def lost_dash(self, node: Node, body: Node | None) -> list[Word]:
        """In `python - <<EOF` the grammar drops the dash: it is in no node, only in the text."""
        first = next((c for c in node.children if c != body), None)
        if body is None or first is None:
            return []
        gap = self.source[body.end_byte : first.start_byte].replace("\\\n", " ").strip(" \t")
        if gap not in {"", "-"}:
            self.problem(Problem.SYNTAX, gap)
        return [Word("-")] if gap == "-" else []

    def compound_with(
        self, body: Node | None, redirects: Redirects, node: Node, start: int
    ) -> None:
        if body is not None:
            self.check_streams(redirects, body)
            outer, fed = self.stdin, self.fed
            self.stdin = redirects.stdin if redirects.stdin is not None else outer
            if redirects.stdin is not None or any(
                r.operator == "<" for r in redirects.redirections
            ):
                self.fed = tuple(self.script.commands[start:])
            self.visit(body)
            self.stdin, self.fed = outer, fed
        self.emit(redirects.words, [], redirects, node, start)

    def emit_redirects(self, nodes: Iterable[Node], owner: Node) -> None:
        """Redirections of a function or a bare `> file`."""
        start, redirects = len(self.script.commands), Redirects()
        for node in nodes:
            read_redirect(self, node, redirects)
        self.emit(redirects.words, [], redirects, owner, start)

    def visit_bare_redirect(self, node: Node) -> None:
        self.emit_redirects([node], node)

    def after_heredoc(self, node: Node, start: int) -> None:
        """`cat <<EOF | sh` and `cat <<EOF && ls`: the grammar hides the rest in the redirect."""
        for child in node.children:
            if child.type == "pipeline":
                outer, self.upstream = self.upstream, tuple(self.script.commands[start:])
                self.visit(child)
                self.upstream = outer
            elif child.is_named and child.type not in INSIDE_HEREDOC and not child.is_error:
                self.visit(child)

    # Words

    def words(self, node: Node) -> list[Word]:
        if node.is_error or node.is_missing or node.type not in VALUES:
            self.problem(Problem.SYNTAX, self.text(node))
            self.visit_children(node)
            return [Word(UNKNOWN)]
        if node.has_error:
            self.problem(Problem.SYNTAX, self.text(node))
        return self.expander.words(node)

    def substitution(self, node: Node) -> tuple[str, str]:
        """Read what a substitution runs: its source, and its value where that is known."""
        code = self.text(node)
        if node.children[0].type[-1:] == "`":  # what is before it, the grammar puts into it
            code = code[code.index("`") :]
        if code.startswith("`") and holds_backtick(code[1:-1]):
            self.hidden(code)  # two with at most blanks between: the grammar makes one of them
            return code, UNKNOWN
        if code.startswith("`") and "\\" in code:
            return self.between_backticks(code)
        self.check_number(code.removeprefix("$"))
        code, value = self.substituted(code, lambda: self.visit_substitution(node))
        return code, UNKNOWN if node.type == "process_substitution" else value

    def between_backticks(self, code: str) -> tuple[str, str]:
        """The same for a text with its backticks, within which a backslash has a meaning."""
        return self.substituted(code, lambda: self.read(_inside_backticks(code)))

    def substituted(self, code: str, read: Callable[[], None]) -> tuple[str, str]:
        self.depth += 1
        self.word_count += 1
        if self.depth > DEPTH_LIMIT or self.word_count > WORD_LIMIT:
            self.stop(Problem.TOO_DEEP, code)
        upstream, self.upstream = self.upstream, ()
        stdin, self.stdin = self.stdin, None
        start, problems = len(self.script.commands), len(self.script.problems)
        with self.isolated():
            read()
        self.upstream, self.stdin = upstream, stdin
        self.depth -= 1
        is_read = len(self.script.problems) == problems
        value = self.printed(self.script.commands[start:]) if is_read else UNKNOWN
        return code.strip("`$()< >\n\t"), value

    def printed(self, commands: Sequence[SimpleCommand]) -> str:
        """What these commands print, where that is known."""
        cwd = (self.cwds[0] or UNKNOWN) if len(self.cwds) == 1 else UNKNOWN
        return known_output(commands, project=self.project, cwd=cwd)

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

    def visit_substitution(self, node: Node) -> None:
        for child in self.children(node):
            if child.type in REDIRECTS:
                self.emit_redirects([child], node)
            else:
                self.visit(child)


def _inside_backticks(code: str) -> str:
    """Between backticks a backslash escapes `$`, a backtick and itself."""
    text = code[1:-1]
    for escaped in ("\\`", "\\$", "\\\\"):
        text = text.replace(escaped, unescape(escaped))
    return text


def _joined(one: Word, other: Word) -> Word:
    return Word(
        one.text + other.text,
        one.splits or other.splits,
        one.globs or other.globs,
        (*one.code, *other.code),
    )


def _is_fed_by_pipe(node: Node) -> bool:
    """Whether this very command, and not something around it, reads from a pipe."""
    parent = node.parent
    if parent is None or parent.type not in {"pipeline", "redirected_statement"}:
        return False
    is_first = parent.type == "redirected_statement" or parent.named_children[0] == node
    return not is_first or _is_fed_by_pipe(parent)


def _skip(_reader: _Reader, _node: Node) -> None:
    """Comments, operators with names, the names of loop variables."""


_FED_PATTERN = re.compile(r"[<>]\(")
"""In the pattern of `[[ x =~ <(id) ]]` the grammar sees no substitution."""
_COUNTED = re.compile(r"-\w*i\w*")
"""`declare -i x`: whatever `x` is given from here on is a number."""
_VALUE_OF_VARIABLES = frozenset({"simple_expansion", "expansion", "concatenation"})
"""`$v`, `${v}` and `$v-`."""
_BRACES = frozenset("{}")
"""Words to the grammar where zsh knows a group: `! { ls } always { id }`."""
_TAKES_CODE = re.compile(rf"eval|trap|-[\w{UNKNOWN}]*[ceS]\S*|[gmn]?awk|g?sed")
"""Among the words of a command: another of them is code."""
_SPLIT = re.compile(
    r"\$(?:\\\n)+[({\[]|\$\((?:\\\n)+\(|[<>](?:\\\n)+[(<>&|]|&(?:\\\n)+[&>]|\|(?:\\\n)+[|&]"
)
"""`$\\` and `(` on the next line: one token to the shell, two to the grammar."""
_TIMED = re.compile(r"(?m)(^[ \t]*|[;&|(]\s*)time(?:\s+-p)?(?=\s+[({])")
"""`time { …; }`: the grammar knows `time` only before a simple command."""
_LINE_OPTION = re.compile(r"-[rds]+$")
"""Options of `read` that leave a line as it is; `-d ''` takes names that end with a zero."""
_SAME_SHELL = frozenset(
    {"eval", "builtin", "command", "time", "noglob", "nocorrect", "-", "repeat", "trap"}
)
_INSTEAD = frozenset({"elif_clause", "else_clause", "case_item"})
_VARIABLE_COMMANDS = frozenset(
    {"read", "unset", "unfunction", "mapfile", "readarray", "getopts", "printf", "let", "local"}
)
_VISITORS: dict[str, Callable[[_Reader, Node], None]] = {
    "program": _Reader.visit_children,
    "command": _Reader.visit_command,
    "list": _Reader.visit_list,
    "pipeline": _Reader.visit_pipeline,
    "redirected_statement": _Reader.visit_redirected,
    "subshell": _Reader.visit_subshell,
    "compound_statement": _Reader.visit_compound,
    "negated_command": _Reader.visit_children,
    "if_statement": _Reader.visit_branches,
    "elif_clause": _Reader.visit_branches,
    "else_clause": _Reader.visit_branches,
    "case_statement": _Reader.visit_branches,
    "case_item": _Reader.visit_branches,
    "while_statement": _Reader.visit_loop,
    "for_statement": _Reader.visit_for,
    "c_style_for_statement": _Reader.visit_loop,
    "do_group": _Reader.visit_children,
    "function_definition": _Reader.visit_function,
    "variable_assignment": _Reader.visit_assignments,
    "variable_assignments": _Reader.visit_assignments,
    "declaration_command": _Reader.visit_declaration,
    "unset_command": _Reader.visit_declaration,
    "test_command": _Reader.visit_test,
    "file_redirect": _Reader.visit_bare_redirect,
    "herestring_redirect": _Reader.visit_bare_redirect,
    "binary_expression": _Reader.visit_arithmetic,
    "unary_expression": _Reader.visit_arithmetic,
    "postfix_expression": _Reader.visit_arithmetic,
    "parenthesized_expression": _Reader.visit_arithmetic,
    "ternary_expression": _Reader.visit_arithmetic,
    "variable_name": _skip,
    "word": _skip,
    "number": _skip,
    "comment": _skip,
}
