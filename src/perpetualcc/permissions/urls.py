"""Addresses: which host they really name, whatever way they are written."""

import base64
import ipaddress
import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Any
from urllib.parse import SplitResult, unquote, unquote_plus, urlsplit

from perpetualcc.domain.secrets import holds_token
from perpetualcc.domain.texts import apart
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
    {
        "file",
        "gopher",
        "dict",
        "ldap",
        "smb",
        "data",
        "jar",
        "javascript",
        "tftp",
        "sftp",
        "scp",
        "view-source",
        "blob",
        "filesystem",
        "netdoc",
        "phar",
        "php",
        "expect",
        "vbscript",
        "chrome",
    }
)


@cache
def _hosts() -> dict[str, Any]:
    return {name: tuple(values) for name, values in load_table("hosts").items()}


class HostKind(StrEnum):
    """What kind of host an address names."""

    PUBLIC = "address-public"
    LOOPBACK = "address-loopback"
    PRIVATE = "address-private"
    METADATA = "address-metadata"
    ADMIN = "address-admin"
    UNKNOWN = "address-unknown"


def host_of(url: str) -> str:
    """The host as an HTTP client would read it; empty when there is none."""
    try:
        host = urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    except ValueError:
        return ""
    return _plain_host(host)


def _plain_host(host: str) -> str:
    """As clients read it: `%2e` and the dots and digits of other scripts are dots and digits."""
    text = unquote(host)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.replace("\u3002", "."))
    return text.rstrip(".").lower()


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
            return _rebound(host)
        is_internal = "." not in host or host.endswith(_hosts()["internal"])
        return HostKind.PRIVATE if is_internal else HostKind.PUBLIC
    return _kind_of_address(address)


_INNER_ADDRESS = re.compile(r"(?:\d{1,3}[.-]){3}\d{1,3}(?=[.-])|\b[0-9a-f]{8}(?=\.)")


def _rebound(host: str) -> HostKind:
    """`169-254-169-254.nip.io` is the address that it holds."""
    for match in _INNER_ADDRESS.finditer(host):
        text = match[0].replace("-", ".")
        address = _address(text if "." in text else f"0x{text}")
        if address is not None and _kind_of_address(address) is HostKind.METADATA:
            return HostKind.METADATA
    return HostKind.PRIVATE


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _kind_of_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> HostKind:
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    if isinstance(address, ipaddress.IPv6Address) and mapped is None:
        number = int(address)
        if address in _NAT64 or 0xFFFF < number < 1 << 32:
            mapped = ipaddress.IPv4Address(number & 0xFFFFFFFF)
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


_BEGINNING = re.compile(r"(?:(https?|wss?|ftp):)?([/\\]*)", re.IGNORECASE)


def as_read(url: str) -> str:
    """As browsers read it: `http:x`, `http:/x` and `//x`, also with backslashes, are `http://x`."""
    text = url.strip()
    match = _BEGINNING.match(text)
    if match is None or not (match[1] or match[2].replace("\\", "/") == "//"):
        return text
    rest = text[match.end() :]
    head, slash, tail = rest.partition("/")
    return f"{match[1] or 'http'}://" + head.replace("\\", "/") + slash + tail


def judge_url(url: str, part: str, trusted: tuple[str, ...] = ()) -> Finding:
    """What fetching `url` would mean."""
    risk, rule, why, host = _judged(as_read(url), trusted)
    return Finding(
        risk=risk,
        rule=rule,
        part=part or url[:200],
        explanation=why,
        kind=apart(f"fetch {host}") if host else rule,
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
    if "@" in unquote(parts.netloc):
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
    if carried := _carried(url, parts):
        return Risk.HIGH, *carried, host
    return _by_kind(kind, host, trusted, parts)


def _carried(url: str, parts: SplitResult) -> tuple[str, str] | None:
    """The rule and the reason when more than a way leaves with the address."""
    if _SECRET_PARAMETER.search(url) or holds_token(url):
        return "address-secret", "The address seems to hold a secret"
    if len(url) > 2_000:
        return "address-long", "So long an address can carry data away"
    if _carries_text(parts):
        return "address-data", "The address carries a text, encoded, away"
    if any(kind_of(inner) is HostKind.METADATA for inner in _inner_hosts(url)):
        why = "It asks another machine to fetch from a metadata service"
        return str(HostKind.METADATA), why
    return None


_INNER = re.compile(r"[a-z][a-z0-9+.-]{1,20}://([^/?#&\s]+)", re.IGNORECASE)


def _inner_hosts(url: str) -> Iterator[str]:
    """The hosts of addresses inside the address: `?url=http%3A%2F%2F10.0.0.1`."""
    text = url[8:]
    for _ in range(3):
        if "://" in text:
            yield from (host_of(f"http://{match[1]}") for match in _INNER.finditer(text))
        text = unquote(text)


_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{40,}={0,2}")
_MOST_WORDS = 500
"""Characters of a search."""
_MOST_LINES = 2
"""Line ends in one query. Nobody types more."""


def carries_away(words: str) -> bool:
    """Whether words for a search are more than one looks for: a text, an encoded one, a login."""
    return (
        len(words) > _MOST_WORDS
        or words.count("\n") > _MOST_LINES
        or re.search(r"://[^/?#\s]*:[^/?#\s]+@", words) is not None
        or any(_is_text(match[0]) for match in _ENCODED.finditer(words))
    )


def _carries_text(parts: SplitResult) -> bool:
    """Whether a part of it is a text of several words in base64, or of several lines."""
    if unquote_plus(parts.query).count("\n") > _MOST_LINES:
        return True
    return any(_is_text(match[0]) for match in _ENCODED.finditer(f"{parts.path}?{parts.query}"))


def _is_text(encoded: str) -> bool:
    bare = encoded.rstrip("=").replace("-", "+").replace("_", "/").lstrip("/")
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4)).decode("ascii")
    except ValueError:
        return False
    return any(c.isspace() for c in data) and all(c.isprintable() or c.isspace() for c in data)


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        return None


def _by_kind(
    kind: HostKind, host: str, trusted: tuple[str, ...], parts: SplitResult
) -> tuple[Risk, str, str, str]:
    if kind is HostKind.LOOPBACK and _port(parts) in _hosts()["admin_ports"]:
        return Risk.MEDIUM, str(HostKind.ADMIN), "Through that port the machine is ruled", host
    if kind is HostKind.LOOPBACK and not parts.netloc.replace(UNKNOWN, "").isascii():
        return Risk.MEDIUM, "address-look-alike", "It is written in another script", host
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
