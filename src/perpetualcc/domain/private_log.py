"""A log for its owner alone. Apart from the files: the supervisor loads no logging."""

import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler

from perpetualcc.domain.private_files import opened


class PrivateLog(RotatingFileHandler):
    """A log of one's own."""

    def _open(self) -> TextIOWrapper:
        descriptor = opened(self.baseFilename, os.O_WRONLY | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding="utf-8")
