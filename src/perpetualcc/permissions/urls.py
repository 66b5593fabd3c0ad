"""Addresses: which host they really name, whatever way they are written."""

import ipaddress
import re
from enum import StrEnum
from functools import cache
from urllib.parse import unquote, urlsplit

from perpetualcc.domain.secrets import holds_token
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.characters import judge_characters
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.shell.script import UNKNOWN

_SECRET_PARAMETER = re.compile(
    r"[?&](?:api[_-]?key|key|token|access[_-]?token|secret|password|passwd|pwd|auth|session|sig)="
    r"[^&]{6,}",
    re.IGNORECASE,
)
_ODD_SCHEMES = frozenset(
    {"file", "gopher", "dict", "ldap", "smb", "data", "jar", "javascript", "tftp", "sftp", "scp"}
)


@cache
def _hosts() -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in load_table("hosts").items()}


class HostKind(StrEnum):
    """What kind of host an address names."""

    PUBLIC = "address-public"
    LOOPBACK = "address-loopback"
    PRIVATE = "address-private"
    METADATA = "address-metadata"
    UNKNOWN = "address-unknown"


def host_of(url: str) -> str:
    """The host as an HTTP client would read it; empty when there is none."""
    try:
        host = urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    except ValueError:
        return ""
    return unquote(host).rstrip(".").lower()


def reaches_people(url: str) -> bool:
    """Whether what is sent there is a message to somebody, or moves money."""
    host = host_of(url)
    try:
        path = urlsplit(url if "://" in url else f"http://{url}").path
    except ValueError:
        return False
    return any(
        (host == named or host.endswith(f".{named}")) and f"{path}/".startswith(f"/{below}")
        for named, _, below in (entry.partition("/") for entry in _hosts()["people"])
    )


def kind_of(host: str) -> HostKind:
    """Loopback, metadata or private, also when an IP address is written in an odd way."""
    if not host or UNKNOWN in host:
        return HostKind.UNKNOWN
    if host in _hosts()["metadata_hosts"]:
        return HostKind.METADATA
    if host == "localhost" or host.endswith((".localhost", ".localdomain")):
        return HostKind.LOOPBACK
    address = _address(host)
    if address is None:
        if host.endswith(_hosts()["rebinding"]):
            return HostKind.PRIVATE
        is_internal = "." not in host or host.endswith(_hosts()["internal"])
        return HostKind.PRIVATE if is_internal else HostKind.PUBLIC
    return _kind_of_address(address)


def _kind_of_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> HostKind:
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    address = mapped or address
    if str(address) in _hosts()["metadata_addresses"]:
        return HostKind.METADATA
    if address.is_loopback or address.is_unspecified:
        return HostKind.LOOPBACK
    return HostKind.PUBLIC if address.is_global else HostKind.PRIVATE


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Dotted, decimal, octal and hexadecimal forms, with one to four parts, as `inet_aton`."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    parts = host.split(".")
    if len(parts) > 4 or not all(re.fullmatch(r"0x[0-9a-f]+|\d+", part) for part in parts):
        return None
    numbers = [_number(part) for part in parts]
    value = 0
    for index, number in enumerate(numbers):
        is_last = index == len(numbers) - 1
        value += number if is_last else number << (8 * (3 - index))
    return ipaddress.IPv4Address(value & 0xFFFFFFFF)


def _number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[:12], 16)
    is_octal = len(part) > 1 and part[0] == "0" and not set(part) - set("01234567")
    return int(part[:12], 8 if is_octal else 10)


def judge_url(url: str, part: str, trusted: tuple[str, ...] = ()) -> Finding:
    """What fetching `url` would mean."""
    risk, rule, why, host = _judged(url, trusted)
    return Finding(
        risk=risk,
        rule=rule,
        part=part or url[:200],
        explanation=why,
        kind=f"fetch {host}"[:60] if host else rule,
        effects=(Effect(kind=EffectKind.NETWORK, target=host),),
    )


def _judged(url: str, trusted: tuple[str, ...]) -> tuple[Risk, str, str, str]:
    host = host_of(url)
    try:
        parts = urlsplit(url)
    except ValueError:
        return Risk.MEDIUM, "address-unreadable", "The address cannot be read", ""
    if parts.scheme not in {"http", "https", "ftp", "ftps", "ws", "wss"}:
        risk = Risk.HIGH if parts.scheme in _ODD_SCHEMES else Risk.MEDIUM
        return risk, "address-scheme", f"{parts.scheme!r} is no way to read a web page", host
    if UNKNOWN in url.split("/")[2:3]:
        return (
            Risk.MEDIUM,
            str(HostKind.UNKNOWN),
            "Which host it names is known only when it runs",
            host,
        )
    kind = kind_of(host)
    if kind is HostKind.METADATA:
        return (
            Risk.HIGH,
            str(kind),
            "A cloud machine's metadata service gives out its credentials",
            host,
        )
    if parts.username or parts.password or "@" in parts.netloc:
        return (
            Risk.HIGH,
            "address-credentials",
            "The address holds a name or password, or hides its real host",
            host,
        )
    if any(host == box or host.endswith("." + box) for box in _hosts()["drop_boxes"]):
        return (
            Risk.HIGH,
            "address-drop-box",
            f"{host} is a place where anyone may leave or collect data",
            host,
        )
    if _SECRET_PARAMETER.search(url) or holds_token(url):
        return Risk.HIGH, "address-secret", "The address seems to hold a secret", host
    if len(url) > 2_000:
        return Risk.HIGH, "address-long", "So long an address can carry data away", host
    return _by_kind(kind, host, trusted)


def _by_kind(kind: HostKind, host: str, trusted: tuple[str, ...]) -> tuple[Risk, str, str, str]:
    if kind is HostKind.LOOPBACK:
        return Risk.MEDIUM, str(kind), "It is a service of this machine", host
    if kind is HostKind.PRIVATE:
        return Risk.MEDIUM, str(kind), "It is inside a private network", host
    if kind is HostKind.UNKNOWN:
        return Risk.MEDIUM, str(kind), "Which host it names is not known", host
    if host in trusted:
        return Risk.LOW, "address-trusted", f"The settings trust {host}", host
    if (
        any(f.risk is not Risk.LOW for f in judge_characters(host))
        or host.startswith("xn--")
        or ".xn--" in host
    ):
        return (
            Risk.MEDIUM,
            "address-look-alike",
            "The host's name has characters that look like others",
            host,
        )
    return Risk.MEDIUM, str(kind), f"Reads from {host}, on the network", host
