"""The one way a requirements file is refused."""

from perpetualcc.domain.errors import PerpetualError


class RequirementsError(PerpetualError):
    """The file cannot be used as it is; the message begins with `file:line:`."""

    def __init__(self, source: str, problem: str, *, line: int = 0, hint: str = "") -> None:
        place = f"{source}:{line}" if line else source
        super().__init__(f"{place}: {problem}", hint=hint or None)
        self.line = line
