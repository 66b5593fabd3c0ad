"""
The line that a person types on, while other lines come in above it.

On a terminal that can be steered the keys are read as they come, and the line is drawn anew below
what is printed meanwhile: what is typed stays whole. Elsewhere the terminal keeps the line, and
gives it when Enter is pressed.
"""

import codecs
import os
import re
import sys
import termios
from contextlib import suppress
from typing import Any

from perpetualcc.cli.look import printable, steers, terminal_width, width, widths_of

_MOST_ROWS = 6
"""Of a longer text the end is drawn; all of it is kept."""
_MOST_MARKS = 4
"""On one character, as far as is looked at: what takes no room of its own."""
_ESCAPE = re.compile(
    r"\x1b(?:\[[ -?]*(?:[@-~]|(?=[^ -~]))|O.|[^\[O\x00-\x1f\x7f]|(?=[\x00-\x1f\x7f]))", re.DOTALL
)
"""
A whole one, or one that something else breaks off (Alt+[ and Enter): arrows and the like mean
nothing here, and leave nothing behind.
"""
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
_ASK_FOR_MARKS, _ASK_FOR_NONE = "\x1b[?2004h", "\x1b[?2004l"
"""Pasted text comes marked: its line ends send nothing (xterm's bracketed paste)."""
_END, _ERASE, _ERASE_WORD, _ERASE_ALL = "\x04", "\x7f\x08", "\x17", "\x15"
"""Ctrl+D, Backspace, Ctrl+W, Ctrl+U: as terminals do it."""


class TypedLine:
    """One at a time. Terminal and text are as they were before once it is left (`close`)."""

    def __init__(self) -> None:
        self.is_there = sys.stdin.isatty()
        """Somebody can type."""
        self.is_whole = self.is_there and steers()
        """What is printed meanwhile does not tear it."""
        self.text = ""
        """Typed and not sent, as far as we know of it."""
        self._invitation = ""
        self._rows: list[str] | None = None
        """As drawn; None: it is not on the screen."""
        self._columns = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unread = ""
        self._is_pasting = False
        self._before: list[Any] | None = None
        """The terminal's modes, where they are changed."""

    @property
    def is_shown(self) -> bool:
        return self._rows is not None

    @property
    def has_more(self) -> bool:
        """Something was read that is not looked at yet."""
        return any(end in self._unread for end in ("\n", "\r", _END))

    def listen(self) -> None:
        """Read keys as they come; again after a shell has had the terminal meanwhile."""
        if not (self.is_whole and _is_ours()):
            return
        with suppress(termios.error):
            modes = termios.tcgetattr(sys.stdin)
            if modes[3] & (termios.ICANON | termios.ECHO):
                self._before = self._before or termios.tcgetattr(sys.stdin)
                modes[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
                modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
                termios.tcsetattr(sys.stdin, termios.TCSANOW, modes)
                print(_ASK_FOR_MARKS, end="", flush=True)
                self._draw_again()
        if self._columns != _columns():
            self._draw_again()

    def close(self) -> None:
        """Give the terminal back; what is typed and not sent is forgotten."""
        self.hide()
        if self._before is not None and _is_ours():
            print(_ASK_FOR_NONE, end="", flush=True)
            with suppress(termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSANOW, self._before)
        self.forget()

    def forget(self) -> None:
        """What was typed was meant for something else, or for somebody who is gone."""
        self.text = self._unread = ""
        self._is_pasting = False
        with suppress(OSError, termios.error):
            # In the background of a shell nothing was typed for us, and who tries is stopped.
            if self.is_there and _is_ours():
                termios.tcflush(sys.stdin, termios.TCIFLUSH)

    def show(self, invitation: str) -> None:
        """Below what is printed by now, with what is typed on it."""
        self._invitation, self._columns = invitation, _columns()
        self._rows = self._laid_out()
        print("\n".join(self._rows), end="", flush=True)

    def hide(self) -> None:
        """What is printed next is not a part of it."""
        if self._rows is None:
            return
        if steers():
            # A terminal that became narrower has broken its rows into several.
            columns = _columns()
            rows = sum(max(1, -(-width(row) // columns)) for row in self._rows)
            print("\r\x1b[2K" + "\x1b[A\x1b[2K" * (rows - 1), end="", flush=True)
        else:
            print()
        self._rows = None

    def read(self) -> str | None:
        """
        A line with its end; without it where Ctrl+D left it; None: it is not complete.

        Raises:
            KeyboardInterrupt: the terminal is gone, and with it the person.
        """
        if self._before is None:
            return self._whole_line()
        if not self.has_more:
            read = self._decoder.decode(_read())
            is_escape_key = self._unread == "\x1b" and not read.startswith(("[", "O"))
            self._unread = read if is_escape_key else self._unread + read
        line = self._taken()
        self._draw_what_is_new()
        if line is not None:
            self.text = ""
            if self.is_shown:
                print(flush=True)  # what was sent stays on the screen
            self._rows = None
        return line

    def _whole_line(self) -> str:
        """From a terminal that keeps it: what was typed, and has been shown by it."""
        with suppress(KeyboardInterrupt):
            line = _read().decode(errors="replace")
            if not line.endswith("\n") and (line or self.is_shown):
                print()
            self._rows = None
            return line
        return self._ended_alone()

    def _ended_alone(self) -> str:
        """Nothing was read: Ctrl+D stands alone, unless the terminal is gone."""
        try:
            termios.tcgetattr(sys.stdin)
        except (OSError, termios.error):
            raise KeyboardInterrupt from None
        if self.is_shown:
            print()
        self._rows = None
        return ""

    def _taken(self) -> str | None:
        """Take what was read up to the end of a line."""
        while self._unread:
            if (escape := self._escape()) is not None:
                if not escape:
                    return None  # its rest is on its way
                continue
            if self._is_pasting:
                self._take_pasted()
                continue
            key, self._unread = self._unread[0], self._unread[1:]
            if key in {"\n", "\r", _END}:
                return self.text + ("" if key == _END else "\n")
            self._edit(key)
        return None

    def _escape(self) -> str | None:
        """An escape sequence that was taken; empty: it is not whole; None: none is next."""
        if self._unread[0] != "\x1b":
            return None
        found = _ESCAPE.match(self._unread)
        if found is None:
            return ""
        sequence = found[0]
        self._unread = self._unread[len(sequence) :]
        if sequence in {_PASTE, _PASTED}:
            self._is_pasting = sequence == _PASTE
        return sequence

    def _take_pasted(self) -> None:
        """All of it at once: it may be a whole book."""
        pasted, escape, rest = self._unread.partition("\x1b")
        self._unread = escape + rest
        kept = "".join(key for key in pasted if key in "\r\n\t" or _is_text(key))
        self.text += kept.replace("\r", "\n")

    def _edit(self, key: str) -> None:
        if key in _ERASE:
            self.text = _shortened(self.text)
        elif key == _ERASE_WORD:
            self.text = re.sub(r"\S*\s*\Z", "", self.text)
        elif key == _ERASE_ALL:
            self.text = ""
        elif key == "\t" or _is_text(key):
            self.text += key

    def _laid_out(self) -> list[str]:
        """Rows that leave the last column free: terminals disagree about what it does."""
        room = max(2, self._columns - 1)
        # What is not drawn is not laid out, and begins at the same place for a while.
        step = _MOST_ROWS * room * _MOST_MARKS
        begin = max(0, len(self.text) // step - 1) * step
        text = printable(self.text[begin:]).replace("\n", "⏎").replace("\t", " ")
        rows = _broken(self._invitation + text, room)
        more = len(rows) - max(1, min(_MOST_ROWS, _height() - 1))
        return [self._invitation[:1] + "…", *rows[more + 1 :]] if more > 0 else rows

    def _draw_again(self) -> None:
        if self.is_shown:
            self.hide()
            self.show(self._invitation)

    def _draw_what_is_new(self) -> None:
        if self._rows is None:
            return
        before, rows = "\n".join(self._rows), self._laid_out()
        now = "\n".join(rows)
        if now.startswith(before):
            print(now[len(before) :], end="", flush=True)
            self._rows = rows
        else:
            self._draw_again()


def _read() -> bytes:
    """Raises KeyboardInterrupt: nothing more will come."""
    try:
        # Not `readline`: that would wait for the rest of a line, and keep what comes after it.
        found = os.read(sys.stdin.fileno(), 65536)
    except OSError:
        raise KeyboardInterrupt from None
    if not found:
        raise KeyboardInterrupt
    return found


def _is_text(key: str) -> bool:
    return key.isprintable() or not key.isascii()


def _is_ours() -> bool:
    """Whether we are in the foreground of the terminal: who touches it elsewhere is stopped."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False


def _columns() -> int:
    return terminal_width() or 80


def _height() -> int:
    try:
        return os.get_terminal_size(1).lines or 24
    except OSError:
        return 24


def _broken(text: str, room: int) -> list[str]:
    """On rows of so many columns at most; a wide character is never cut."""
    rows, row, taken = [], "", 0
    for character, columns in zip(text, widths_of(text), strict=True):
        if taken + columns > room:
            rows.append(row)
            row, taken = "", 0
        row, taken = row + character, taken + columns
    return [*rows, row]


def _shortened(text: str) -> str:
    """Without its last character, and the marks and joined symbols that stand on it."""
    taken = list(widths_of(text))
    while taken and not taken.pop():
        text = text[:-1]
    return text[:-1]
