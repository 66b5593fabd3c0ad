"""Addresses of servers, as people write them into the settings."""

import re

from perpetualcc.domain.errors import PerpetualError


def check_address(key: str, address: str, example: str, *, scheme_needed: bool = True) -> None:
    """
    Refuse what no server can be reached at.

    Raises:
        PerpetualError: it is no `http` or `https` address. The text is not shown: it may hold a
            password.
    """
    scheme = r"https?://" if scheme_needed else r"(https?://|(?!\w+://))"
    if not re.match(rf"{scheme}[^\s/]+(/\S*)?$", address):
        raise PerpetualError(
            f"'{key}' is no address of a server", hint=f"pcc config set {key} {example}"
        )
