"""The page's files and the headers that they are served with."""

import gzip
from collections.abc import Mapping
from functools import cache
from importlib import resources

_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_SCRIPTS = (
    *("app", "changes", "device", "dom", "link", "log"),
    *("report", "result", "session", "waiting"),
)
_PATHS: Mapping[str, str] = {
    "/": "index.html",
    "/persistent": "index.html",  # seed 003, NFR-4
    **{f"/{name}.js": f"{name}.js" for name in _SCRIPTS},
    **{f"/{name}": name for name in ("style.css", "icon.svg")},
}


def page(path: str, encodings: str = "") -> tuple[dict[str, str], bytes] | None:
    """
    The headers and the content of what a path names; None: there is no such thing. `encodings`:
    what the browser accepts; packed it is a third.
    """
    name = _PATHS.get(path)
    if name is None:
        return None
    kind = {"Content-Type": f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"}
    accepted = {one.strip() for one in encodings.split(",")}  # with a weight it is nobody's browser
    if "gzip" in accepted:
        return {**kind, "Content-Encoding": "gzip"}, _packed(name)
    return kind, contents()[name]


@cache
def _packed(name: str) -> bytes:
    return gzip.compress(contents()[name], mtime=0)


@cache
def contents() -> Mapping[str, bytes]:
    """
    By the files' names. Read once: with what an upgrade puts there meanwhile a page would be of two
    versions.
    """
    folder = resources.files(__package__).joinpath("page")
    return {name: folder.joinpath(name).read_bytes() for name in set(_PATHS.values())}


def headers(port: int, address: str = "") -> dict[str, str]:
    """Nothing from elsewhere is loaded, run or asked, and no other page holds or reads ours."""
    sockets = [f"ws://127.0.0.1:{port}", f"ws://localhost:{port}"]
    if address:
        sockets.append(f"wss://{address.partition('://')[2]}")
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        # Not every browser counts a WebSocket as 'self'.
        "connect-src": " ".join(sockets),
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
