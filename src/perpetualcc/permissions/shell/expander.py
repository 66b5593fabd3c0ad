"""From a word as the grammar sees it to the words the program gets."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tree_sitter import Node

from perpetualcc.permissions.shell.numbers import takes_a_number, variable_set
from perpetualcc.permissions.shell.script import PIPE, UNKNOWN, Word
from perpetualcc.permissions.shell.syntax import SUBSTITUTIONS
from perpetualcc.permissions.shell.variables import ARGUMENTS, Variables, is_given_secret
from perpetualcc.permissions.shell.words import (
    expand_braces,
    unescape,
    unescape_ansi,
    unescape_double_quoted,
)

Piece = tuple[str, bool]
"""A stretch of text, and whether it is open to the shell (unquoted)."""

_SPECIAL = frozenset("\\{*?[~$")
_BREAK = "\ue001"
"""Where an unquoted variable's value breaks into words."""
_LONG_WORD = 2_000
"""Braces in words longer than this are not expanded."""


class Expander:
    """
    Resolves words. Substitutions are handed to `substitute`, which reads what is inside; those
    that the grammar takes for plain characters to `between_backticks`, as in a here-document, or
    to `hidden`, as in ``${x:-`id`}`` and `"${x:-'$(id)'}"`, as text. What
    `${x:=value}` sets goes to `bind`, and what `${x@P}` runs to `prompt`.
    """

    def __init__(
        self,
        variables: Variables,
        substitute: Callable[[Node], tuple[str, str]],
        *,
        between_backticks: Callable[[str], tuple[str, str]],
        hidden: Callable[[str], None],
        bind: Callable[[str, str, Node], None],
        prompt: Callable[[str, Node], None],
    ) -> None:
        self.variables = variables
        self.source = ""
        self._substitute, self._between_backticks = substitute, between_backticks
        self._hidden, self._bind, self._prompt = hidden, bind, prompt
        self._code: list[str] = []
        self._splits = False
        self._divides = True
        self._is_secret = False
        self.takes_numbers = False
        """Somewhere in the line a value that is not written there was taken for a number."""

    @contextmanager
    def undivided(self) -> Iterator[None]:
        """A variable's value is one word, whatever blanks are in it."""
        self._divides = False
        yield
        self._divides = True

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte]

    def words(self, node: Node) -> list[Word]:
        """All words that one word of the source becomes."""
        if node.type in {"word", "number", "variable_name", "test_operator"}:
            text = self.text(node)
            if _SPECIAL.isdisjoint(text):
                return [Word(text)]
        elif node.type == "raw_string":
            return [Word(self.text(node)[1:-1])]
        self._code, self._splits, self._is_secret = [], False, False
        pieces = self._pieces(node)
        return self._assemble(pieces)

    def _assemble(self, pieces: list[Piece]) -> list[Word]:
        text = "".join(piece for piece, _ in pieces)
        if len(text) > _LONG_WORD or not any(is_open for _, is_open in pieces):
            return self._finished([text], globs=False)
        marks = [is_open for piece, is_open in pieces for _ in piece]
        globs = any(c in "*?[" and is_open for c, is_open in zip(text, marks, strict=True))
        name = text[1:].partition("/")[0]
        if text[:1] == "~" and all(marks[: 1 + len(name)]):
            place = self.variables.get({"": "HOME", "+": "PWD"}.get(name, name))
            if name and not place.startswith("/"):  # `~-`, `~2`, and a name that zsh may know
                place = UNKNOWN
            text = place + text[1 + len(name) :]
            marks = [False] * len(place) + marks[1 + len(name) :]
        texts = expand_braces(text, marks) if "{" in text else [text]
        if texts is None:
            self._splits, texts = True, [UNKNOWN]
        return self._finished(texts, globs=globs)

    def _finished(self, texts: list[str], *, globs: bool) -> list[Word]:
        """An unquoted variable with blanks in its value becomes several words."""
        code = tuple(self._code)
        return [
            Word(part, self._splits, globs, code, self._is_secret)
            for text in texts
            for part in ([text] if _BREAK not in text else text.split(_BREAK))
            if part or _BREAK not in text
        ]

    def _pieces(self, node: Node) -> list[Piece]:
        kind = node.type
        if kind in {"word", "number", "variable_name", "test_operator", "extglob_pattern", "regex"}:
            text = self.text(node)
            if "`" in text and holds_backtick(text):  # no plain word has one
                self._hidden(text)
            return _unquoted(text)
        if kind == "concatenation":
            return self._concatenation(node)
        if kind in {"string", "translated_string"}:
            return [("".join(self.double_quoted(node)), False)]
        if kind == "raw_string":
            return [(self.text(node)[1:-1], False)]
        if kind == "ansi_c_string":
            return [(self._ansi(node), False)]
        if kind == "brace_expression":
            return [(self.text(node), True)]
        return [(self._expansion(node, quoted=False), False)]

    def _ansi(self, node: Node) -> str:
        r"""A zero in `$'a\0'` ends this piece to bash, and the whole word to zsh."""
        text, zero, _ = unescape_ansi(self.text(node)[2:-1]).partition("\0")
        is_alone = node.parent is None or node.parent.type != "concatenation"
        return text if not zero or (is_alone and not text) else text + UNKNOWN

    def _concatenation(self, node: Node) -> list[Piece]:
        pieces: list[Piece] = []
        for child in node.children:
            pieces += self._pieces(child) if child.is_named else [(self.text(child), True)]
        return pieces

    def document(self, node: Node) -> tuple[str, bool]:
        """The text of a here-document, and whether there is a secret in it."""
        self._code, self._splits, self._is_secret = [], False, False
        return "".join(self.double_quoted(node)), self._is_secret

    def double_quoted(self, node: Node) -> list[str]:
        """The text of a double-quoted string or a here-document, with its expansions."""
        inner = node.children[1] if node.type == "translated_string" else node
        is_string = inner.type == "string"
        position = inner.start_byte + is_string
        end = inner.end_byte - is_string
        texts: list[str] = []
        for child in inner.children:
            if child.type in _EXPANSIONS:
                start = self._dollar(child)
                position = self._plain(position, start, inner, texts)
                if position <= start:
                    texts.append(self._expansion(child, quoted=True))
                    position = child.end_byte
                elif position < child.end_byte:
                    self._hidden(self.source[position:end])
        self._plain(position, end, inner, texts)
        if node.type == "heredoc_body":  # a text is no words
            return [text.replace(_BREAK, " ") for text in texts]
        return texts

    def _dollar(self, node: Node) -> int:
        """Where it begins: in `"$a $b"` the grammar gives the second the blank."""
        return node.end_byte - len(self._written(node))

    def _written(self, node: Node) -> str:
        """An expansion without that blank."""
        return self.text(node).lstrip()

    def _plain(self, position: int, end: int, node: Node, texts: list[str]) -> int:
        """
        What is between expansions, up to `end`; in a here-document the grammar leaves backticks
        to us, and the last of them may close beyond `end`. Where it ends.
        """
        while node.type == "heredoc_body":
            opening = self._backtick(position, end)
            if opening is None:
                break
            closing = self._backtick(opening + 1, node.end_byte)
            if closing is None:
                self._hidden("")
                break
            code, value = self._between_backticks(self.source[opening : closing + 1])
            self._code.append(code)
            texts += [self._literal(position, opening), value]
            position = closing + 1
        if node.type == "heredoc_body" and (lost := _LOST.search(self.source, position, end)):
            self._hidden(self.source[lost.start(1) : end])
        texts.append(self._literal(position, end))
        return max(position, end)

    def _backtick(self, start: int, end: int) -> int | None:
        """The first that no backslash escapes."""
        found = _BACKTICK.finditer(self.source, start, end)
        return next((match.start() for match in found if match[0] == "`"), None)

    def _literal(self, start: int, end: int) -> str:
        text = _ODD_VARIABLE.sub(rf"\g<1>{UNKNOWN}", self.source[start:end])
        self._splits = self._splits or text != self.source[start:end]
        return unescape_double_quoted(text)

    def _expansion(self, node: Node, *, quoted: bool) -> str:
        if node.type in SUBSTITUTIONS:
            code, value = self._run(node)
            self._code.append(code)
            if node.type == "process_substitution":
                return f"/dev/fd/{UNKNOWN}{PIPE}"
            if quoted:
                return value
            self._splits = self._splits or UNKNOWN in value
            return _BREAK.join(_fields(value)) if self._divides else value
        if node.type in {"simple_expansion", "expansion"}:
            return self._variable(node, quoted=quoted)
        self._inside(node)
        return "0" if node.type == "arithmetic_expansion" else UNKNOWN

    def _run(self, node: Node) -> tuple[str, str]:
        """Reading what is inside uses this same expander, so its state is kept aside."""
        code, splits, divides = self._code, self._splits, self._divides
        is_secret, self._divides = self._is_secret, True
        found = self._substitute(node)
        self._code, self._splits, self._divides = code, splits, divides
        self._is_secret = is_secret
        return found

    def _variable(self, node: Node, *, quoted: bool) -> str:
        named = [child for child in node.children if child.is_named]
        is_plain = len(named) == 1 and len(node.children) == (
            2 if node.type == "simple_expansion" else 3
        )
        self._inside(node)
        if is_given_secret(self._written(node), self.variables.secrets):
            self._is_secret = True
        if self._is_changed(node):
            self._splits = self._splits or not quoted
            return UNKNOWN
        if (whole := _WHOLE_LIST.fullmatch(self._written(node))) is not None:
            name = whole["name"] or ARGUMENTS
            if whole["name"] or self.variables.has_list(name):
                return self._list(name, quoted=quoted, is_one="*" in whole[0])
        if not is_plain:
            self._operated(node)
        if not is_plain or named[0].type != "variable_name":
            is_special = bool(named) and named[0].type == "special_variable_name"
            if is_special and (name := self.text(named[0])) in _SPECIAL_VALUES:
                return _SPECIAL_VALUES[name]
            is_word_of_list = bool(named) and self._is_of_list(named[0])
            self._splits = self._splits or not quoted or is_word_of_list
            return UNKNOWN
        value = self.variables.get(self.text(named[0]))
        if quoted:
            return value
        if UNKNOWN in value or self.variables.get("IFS") != " \t\n":
            self._splits = True
        return _BREAK.join(_fields(value)) if self._divides else value

    def _list(self, name: str, *, quoted: bool, is_one: bool) -> str:
        """`${name[@]}` is each word of a list, and in quotes so; `"${name[*]}"` is one word."""
        words = self.variables.get_list(name)
        is_divided = not quoted and any(_DIVIDED.search(word) for word in words or ())
        if words is None or is_divided or self.variables.get("IFS") != " \t\n":
            self._splits = self._splits or not quoted or self.variables.has_list(name)
            return UNKNOWN
        self._splits = self._splits or UNKNOWN in words
        if not self._divides or (quoted and is_one):
            return " ".join(words)
        return _BREAK.join(words) if words else _BREAK

    def _is_of_list(self, node: Node) -> bool:
        """`${name[1]}`: which of its words is not told, and it may be an option."""
        name = node.child_by_field_name("name")
        return name is not None and self.variables.has_list(self.text(name))

    def _is_changed(self, node: Node) -> bool:
        """
        To zsh `$x[1,3]`, `$#x[1]` and `$x:h` are of a part of the value, also in double quotes.

        In the brackets quotes are plain characters, and `'$(id)'` runs.
        """
        after = node.end_byte
        if self._written(node) == "$#" and (counted := _COUNTED.match(self.source, after)):
            after = counted.end()
        if node.type != "simple_expansion" or self.source[after : after + 1] not in _MODIFIES:
            return False
        parent = node.parent
        if parent is not None and parent.type == "concatenation":
            rest = self.source[after : parent.end_byte]
            if rest.count("[") > rest.count("]"):  # `$x[ 1 ]`: it goes on behind the blank
                rest = self.source[after:]
            if rest[0] == "[" and not _QUOTES.isdisjoint(rest) and HIDES.search(rest):
                self._hidden(rest)
        return self.source[after] == "[" or self.source[after + 1 : after + 2] in _MODIFIERS

    def _operated(self, node: Node) -> None:
        """
        `${NAME:=value}` sets the variable, `${name@P}` runs what is in it, and `${!name}` is what
        that is a name of, or a subscript.
        """
        text = self.text(node)
        self.takes_numbers |= text.startswith("${!")
        if match := _SETS.match(text):
            is_known = "$" not in match[2] and "`" not in match[2]
            held = self.variables.get(match[1]) if match[1] in self.variables else ""
            self._bind(match[1], match[2] if is_known else UNKNOWN, node)
            if held:  # it keeps that, or may
                self.variables.set(match[1], held)
        elif _PROMPTS.search(text):
            name = text[2 : text.index("@P}")]
            self._prompt(self.variables.get(name), node)

    def count(self, node: Node) -> None:
        """What one part of a number says, whatever is inside."""
        self.takes_numbers = self.takes_numbers or takes_a_number(node)
        if (name := variable_set(node)) is not None:
            self.variables.set(self.text(name), "0")  # a number as good as any

    def _inside(self, node: Node) -> None:
        """Substitutions in `${x:-$(…)}` and `$((…))` run as well."""
        self.count(node)
        if node.type == "simple_expansion" and _BLANK.search(self._written(node)):
            end = node.end_byte if node.parent is None else node.parent.end_byte
            self._hidden(self.source[self._dollar(node) + 1 : end])
        for child in node.children:
            if child.type in SUBSTITUTIONS:
                self._code.append(self._run(child)[0])
            elif child.child_count:
                self._inside(child)
            elif child.type in PLAIN_LEAVES and HIDES.search(text := self.text(child)):
                code, splits, is_secret = self._code, self._splits, self._is_secret
                self._hidden(text)
                self._code, self._splits, self._is_secret = code, splits, is_secret


_ODD_VARIABLE = re.compile(r"((?<!\\)(?:\\\\)*)\$[\^=~]+(?:\w+|[@*#?])")
"""`"$^x"`, `"$=x"`, `"$~x"`: variables to zsh, plain text to the grammar and to bash."""
_WHOLE_LIST = re.compile(r"\$\{(?P<name>\w+)\[[@*]\]\}|\$[@*]|\$\{[@*]\}")
_DIVIDED = re.compile(r"[\s*?\[]|^$")
_SETS = re.compile(r"\$\{([A-Za-z_]\w*):?=(.*)\}\Z", re.DOTALL)
_PROMPTS = re.compile(r"@P\}\Z")
_SPECIAL_VALUES = {"?": "0", "#": "0", "$": "0", "!": "%!"}
"""Numbers as good as any; `$!` is a job of this very line, like `%1`."""
PLAIN_LEAVES = frozenset({"word", "regex", "extglob_pattern", "raw_string", "ansi_c_string"})
"""In numbers, and in an expansion between double quotes, single quotes are plain characters."""
_MODIFIES = frozenset("[:")
_MODIFIERS = frozenset("aAcefFghlpPqQrstuwWx&")
_COUNTED = re.compile(r"\w+|[@*$!?-]")
_QUOTES = frozenset("'\"\\")
_BLANK = re.compile(r"\s")
"""In `"$ $(id)"` the grammar takes `$ $` for a variable, and what runs for text."""
_LOST = re.compile(r"(?<!\\)(?:\\\\)*(\$\()")
"""What runs in a here-document, where the grammar took it for text."""
_BACKTICK = re.compile(r"\\.|`", re.DOTALL)
HIDES = re.compile(r"`|\$(?:\\\n|\")*[({\[]|[<>=]\(")
"""What runs or expands although it stands in what the grammar takes for plain characters."""
_EXPANSIONS = SUBSTITUTIONS | {"simple_expansion", "expansion", "arithmetic_expansion"}


def holds_backtick(text: str) -> bool:
    """Whether one stands there that no backslash escapes."""
    return any(match[0] == "`" for match in _BACKTICK.finditer(text))


def _unquoted(text: str) -> list[Piece]:
    """Characters after a backslash are as good as quoted."""
    if "\\" not in text:
        return [(text, True)]
    pieces: list[Piece] = []
    position = 0
    while (escape := text.find("\\", position)) >= 0:
        pieces.append((text[position:escape], True))
        pieces.append((unescape(text[escape : escape + 2]), False))
        position = escape + 2
    return [*pieces, (text[position:], True)]


def _fields(value: str) -> list[str]:
    """What unquoted expansion makes of a value; blanks at its ends separate too."""
    fields = value.split()
    if value[:1].isspace():
        fields.insert(0, "")
    if value[-1:].isspace():
        fields.append("")
    return fields
