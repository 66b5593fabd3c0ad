"""A log for its owner alone. Apart from the files: the supervisor loads no logging."""

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from perpetualcc.domain.private_files import make_way, opened_log
from perpetualcc.domain.secrets import redact


class PrivateLog(RotatingFileHandler):
    """A log of one's own."""

    def _open(self) -> TextIOWrapper:
        return os.fdopen(opened_log(Path(self.baseFilename)), "a", encoding="utf-8")

    def doRollover(self) -> None:  # noqa: N802  # the standard library's name
        for number in range(1, self.backupCount + 1):
            make_way(Path(f"{self.baseFilename}.{number}"))
        super().doRollover()


class RedactingFormatter(logging.Formatter):
    """An error may quote what it stumbled over."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))
