"""
Turns what was typed into plain values without a validation library.

Typer 0.29 imports pydantic when a command with any option but a flag runs, to convert even a
path: 0.2 s, twice the rest of a command's start. Texts, numbers and paths are converted here;
whatever is not plain, or wrong, goes to Typer's own converter. What that says of a wrong value is
the library's ("Value error, …", "Input should be …"), and is said in plain words here.
"""

import os
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import typer.core

_PATH_CHECKS = ("exists", "writable", "executable", "resolve_path", "allow_dash", "path_type")
_NUMBERS = {int: r"-?\d{1,15}", float: r"-?\d{1,15}(\.\d{1,15})?"}
_NO_NUMBER = {int: "no whole number", float: "no number"}


class _NotPlainError(Exception):
    """Typer must look at this value."""


class PlainValues:
    """Stands where a Typer parameter keeps its converter until that is needed."""

    def __init__(self, thorough: Callable[[Any], Any]) -> None:
        self._thorough = thorough

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return _converted(value, param)
        except (_NotPlainError, AttributeError):
            pass
        kind: Any = getattr(getattr(param, "type_descriptor", None), "annotation", None)
        try:
            return self._thorough(param).coerce(value, param=param, ctx=ctx)
        except typer.BadParameter as error:
            word = _NO_NUMBER.get(kind)
            is_a_word = word and not _is_number(value, kind)
            said = f"{value!r} is {word}" if is_a_word else _in_plain_words(error.message, value)
            raise typer.BadParameter(said, ctx=ctx, param=param) from None


def use_plain_values() -> None:
    """From now on in this process. A Typer that works otherwise is left as it is."""
    parameter: Any = getattr(typer.core, "_TyperParameter", None)
    thorough = getattr(parameter, "get_runtime_param", None)
    if thorough is not None:
        parameter.get_runtime_param = lambda _: PlainValues(thorough)


def _in_plain_words(message: str, value: Any) -> str:
    if bound := re.fullmatch(r"Input should be (greater|less) than or equal to (\S+)", message):
        return f"{value} is not {bound[2]} or {'more' if bound[1] == 'greater' else 'less'}"
    return message.removeprefix("Value error, ").removesuffix(".")


def _is_number(value: Any, kind: type) -> bool:
    try:
        kind(value)
    except (TypeError, ValueError):
        return False
    return True


def _converted(value: Any, param: Any) -> Any:
    kind, info = param.type_descriptor.annotation, param.type_descriptor.parameter_info
    if getattr(info, "parser", None) or getattr(info, "click_type", None):
        raise _NotPlainError
    is_many = param.multiple or param.nargs == -1
    if value is None:
        return () if is_many else None
    if not is_many:
        return _one(value, kind, info)
    if get_origin(kind) is not list or isinstance(value, str):
        raise _NotPlainError
    return [_one(item, get_args(kind)[0], info) for item in value]


def _one(value: Any, kind: Any, info: Any) -> Any:
    if kind is str and isinstance(value, str):
        return value
    if kind in _NUMBERS and (isinstance(value, kind) or _is_plain(str(value), kind)):
        return _within(kind(value), info)
    if kind is Path and isinstance(value, str | Path):
        return _path(value, info)
    if isinstance(kind, type) and issubclass(kind, Enum) and isinstance(value, kind):
        return value
    raise _NotPlainError


def _is_plain(written: str, kind: Any) -> bool:
    """Compiled when a number is typed: most commands are given none."""
    return re.fullmatch(_NUMBERS[kind], written, re.ASCII) is not None


def _within(number: float, info: Any) -> float:
    is_low = info.min is not None and number < info.min
    is_high = info.max is not None and number > info.max
    if is_low or is_high:
        raise _NotPlainError
    return number


def _path(value: Any, info: Any) -> Path:
    if value == "":  # an unset variable of a script: never the working directory
        raise typer.BadParameter("it is empty")
    is_checked = any(getattr(info, check, None) for check in _PATH_CHECKS)
    is_unreadable = os.path.lexists(value) and not os.access(value, os.R_OK)
    if is_checked or is_unreadable or not (info.file_okay and info.dir_okay):
        raise _NotPlainError
    return Path(value)
