"""What a page may say, and who is let in: tables, and every method of the engine."""

import gzip
import json
import re
from importlib import resources
from pathlib import Path

import pytest

from perpetualcc.domain.devices import Scope
from perpetualcc.gateway.dashboard import pages
from perpetualcc.gateway.dashboard.guards import ALLOWED, Hosts, Keys, may, passed, said
from perpetualcc.gateway.protocol import ErrorCode, ProtocolError

ROOT = Path(__file__).parents[3]
FOREIGN = ("budget.set", "rule.", "trust.", "session.start", "session.stop", "notification.")
PAGE = resources.files("perpetualcc.gateway.dashboard").joinpath("page")


def request(method: str, **params: object) -> bytes:
    return json.dumps({"type": "req", "id": 7, "method": method, "params": params}).encode()


@pytest.mark.parametrize("method", sorted(ALLOWED))
def test_what_the_page_needs_passes_as_it_is(method: str) -> None:
    params = dict.fromkeys(ALLOWED[method][1], 1)

    assert passed(request(method, **params)) == (7, method, params)


def test_every_other_method_of_the_engine_is_refused() -> None:
    table = (ROOT / "docs" / "protocol.md").read_text()
    methods = set(re.findall(r"^\| `([a-z]+\.[a-z]+)` \|", table, re.MULTILINE))

    for method in (methods | {"connect", "ping"}) - set(ALLOWED):
        with pytest.raises(ProtocolError) as refused:
            passed(request(method))
        assert refused.value.code is ErrorCode.PERMISSION_DENIED
    assert set(ALLOWED) - methods == {"events.unfollow"}
    assert [name for name in ALLOWED if name.startswith(FOREIGN)] == []


@pytest.mark.parametrize(
    ("method", "parameter"),
    [
        ("escalation.respond", "always"),
        ("task.add", "checks"),
        ("task.add", "when"),
        ("task.add", "every"),
        ("session.get", "admin"),
    ],
)
def test_a_parameter_that_makes_a_rule_or_a_command_does_not_pass(method, parameter) -> None:
    with pytest.raises(ProtocolError, match="may not ask"):
        passed(request(method, **{parameter: True}))


@pytest.mark.parametrize(
    "frame", [b"", b"[]", b"null", b"{}", b'{"type":"res","id":1}', b"[" * 60_000, b"\xff"]
)
def test_what_is_no_request_does_not_pass(frame: bytes) -> None:
    with pytest.raises(ProtocolError):
        passed(frame)


def test_the_page_is_asked_for_by_its_own_names_alone() -> None:
    hosts = Hosts(8420)

    known = [name for name in HOSTS if hosts.knows([name])]

    assert known == ["127.0.0.1:8420", "localhost:8420"]
    assert not hosts.knows([])
    assert not hosts.knows(["127.0.0.1:8420", "evil.example"])


HOSTS = [
    "127.0.0.1:8420", "localhost:8420", "127.0.0.1", "localhost", "127.0.0.1:8421", "0.0.0.0:8420",
    "evil.example:8420", "localhost.evil.example:8420", "[::1]:8420", "2130706433:8420", "", "null",
]  # fmt: skip


@pytest.mark.parametrize(
    ("host", "origin", "is_own"),
    [
        ("127.0.0.1:8420", ["http://127.0.0.1:8420"], True),
        ("localhost:8420", ["http://localhost:8420"], True),
        ("localhost:8420", ["http://127.0.0.1:8420"], False),
        ("127.0.0.1:8420", [], False),
        ("127.0.0.1:8420", ["null"], False),
        ("127.0.0.1:8420", ["https://127.0.0.1:8420"], False),
        ("127.0.0.1:8420", ["http://127.0.0.1:8421"], False),
        ("127.0.0.1:8420", ["http://evil.example"], False),
        ("127.0.0.1:8420", ["http://127.0.0.1:8420", "http://127.0.0.1:8420"], False),
        ("evil.example:8420", ["http://evil.example:8420"], False),
    ],
)
def test_only_our_own_page_connects(host: str, origin: list[str], is_own: bool) -> None:
    assert Hosts(8420).is_own_page([host], origin) is is_own


ADDRESS = "https://box.example.ts.net"


@pytest.mark.parametrize(
    ("host", "origin", "is_own"),
    [
        ("box.example.ts.net", ADDRESS, True),
        ("BOX.example.ts.net", ADDRESS, True),
        ("127.0.0.1:8420", "http://127.0.0.1:8420", True),
        # A proxy that gives another name, a page without encryption, and other sites.
        ("127.0.0.1:8420", ADDRESS, False),
        ("box.example.ts.net", "http://box.example.ts.net", False),
        ("box.example.ts.net", "http://127.0.0.1:8420", False),
        ("box.example.ts.net", "https://box.example.ts.net.evil.example", False),
        ("box.example.ts.net:8443", "https://box.example.ts.net:8443", False),
    ],
)
def test_the_address_for_devices_is_a_page_of_ours_and_nothing_near_it(host, origin, is_own):
    hosts = Hosts(8420, ADDRESS)

    assert hosts.is_own_page([host], [origin]) is is_own
    assert hosts.is_elsewhere(origin) is (origin == ADDRESS)
    assert not Hosts(8420).is_elsewhere(origin)


SCOPES = {
    "session.list": (Scope.LOOK, {"limit": 5}),
    "events.follow": (Scope.LOOK, {"since": 0}),
    "escalation.respond": (Scope.ANSWER, {"number": 1, "approve": True}),
    "session.pause": (Scope.WORK, {"session": "s"}),
    "session.resume": (Scope.WORK, {"session": "s"}),
    "session.say": (Scope.WORK, {"session": "s", "text": "t", "key": "k"}),
    "snapshot.changes": (Scope.LOOK, {"session": "s", "task": "t"}),
    "snapshot.patch": (Scope.LOOK, {"session": "s", "file": "f"}),
    "snapshot.plan": (Scope.WORK, {"session": "s", "snapshot": "t"}),
    "snapshot.restore": (Scope.WORK, {"session": "s", "snapshot": "t", "present": "p"}),
    "task.add": (Scope.WORK, {"session": "s", "prompt": "p"}),
}


@pytest.mark.parametrize("method", SCOPES)
@pytest.mark.parametrize("scope", list(Scope))
def test_a_device_may_do_what_its_scope_holds(scope: Scope, method: str) -> None:
    needed, params = SCOPES[method]

    assert may(scope, method, params) is (list(Scope).index(needed) <= list(Scope).index(scope))
    assert not may(scope, method, {**params, "always": True})


@pytest.mark.parametrize("method", ["device.invite", "device.enter", "rule.add", "connect", "x"])
def test_no_scope_holds_what_is_not_a_page_s(method: str) -> None:
    assert not any(may(scope, method, {}) for scope in Scope)


def test_whoever_only_looks_holds_no_call_for_an_answer_they_cannot_give() -> None:
    assert not may(Scope.LOOK, "events.follow", {"session": "s", "attend": True})
    assert may(Scope.ANSWER, "events.follow", {"session": "s", "attend": True})


def test_a_code_opens_once_and_the_key_as_often_as_one_likes() -> None:
    keys = Keys()
    code = keys.code

    key, is_fresh = keys.admit({"code": code})

    assert key
    assert is_fresh
    assert keys.admit({"code": code}) == ("", False)
    assert keys.admit({"key": key}) == (key, False)
    assert keys.code not in {code, key}


@pytest.mark.parametrize(
    "greeting",
    [
        *("", "[]", "{}", '{"key":null}', '{"key":""}', '{"code":1}', '{"key":"\\ud800"}'),
        *(b"\xff", "[" * 60_000),
    ],
)
def test_a_stranger_gets_no_key(greeting: str | bytes) -> None:
    assert Keys().admit(said(greeting)) == ("", False)


def test_nothing_but_the_listed_files_is_served() -> None:
    listed = {path.removeprefix("/") for path in pages._PATHS} - {"", "persistent"}

    assert {one.name for one in PAGE.iterdir()} == listed | {"index.html"}
    assert pages.page("/") == pages.page("/persistent")
    for path in ("/../guards.py", "/page/app.js", "/app.js?x", "//", "/index.html"):
        assert pages.page(path) is None


def test_the_page_holds_nothing_that_its_policy_or_a_session_could_abuse() -> None:
    texts = {one.name: one.read_text() for one in PAGE.iterdir()}
    scripts = "".join(text for name, text in texts.items() if name.endswith(".js"))

    assert not re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", scripts)
    assert not re.findall(r"https?://", "".join(texts.values()).replace(SVG, ""))
    inline = r"<style|style=|\son\w+=|<script(?! type=\"module\" src=\"/)"
    assert not re.findall(inline, texts["index.html"])
    assert "'unsafe" not in pages.headers(1)["Content-Security-Policy"]


SVG = "http://www.w3.org/2000/svg"


def test_a_page_comes_packed_to_whoever_takes_it_so_and_names_all_its_scripts() -> None:
    plain, packed = pages.page("/"), pages.page("/", "br, gzip")

    assert plain is not None
    assert packed is not None
    assert packed[0] == {**plain[0], "Content-Encoding": "gzip"}
    assert gzip.decompress(packed[1]) == plain[1]
    assert pages.page("/", "identity, gzip;q=0") == plain
    scripts = {f"/{one.name}" for one in PAGE.iterdir() if one.name.endswith(".js")}
    assert set(re.findall(r'(?:src|href)="(/\w+\.js)"', plain[1].decode())) == scripts
