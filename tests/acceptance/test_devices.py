"""Phones and other browsers: paired, held to what they were granted, and put out at once."""

import base64
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from perpetualcc.claude import processes
from perpetualcc.domain.ids import RunId
from perpetualcc.gateway.dashboard.bridge import STRANGER
from perpetualcc.gateway.protocol import ErrorCode
from tests.acceptance.browser import MISSING, browsing
from tests.acceptance.receivers import Webhook
from tests.acceptance.supervised import Supervised, wait_until
from tests.acceptance.test_dashboard import ask, dashboard, free_port

pytestmark = [pytest.mark.claude, pytest.mark.timeout(180)]

HOST = "box.test"
ADDRESS = f"https://{HOST}"
ASKS = """
steps:
  - ask:
      - question: Which database should I use?
        header: Database
        options: [PostgreSQL, SQLite, MySQL]
  - All is said and done.
"""


def reachable(pcc: Supervised, address: str = ADDRESS) -> Supervised:
    pcc.pcc("config", "set", "dashboard.address", address)
    return pcc


def invited(pcc: Supervised, name: str, may: str = "answer") -> str:
    """The code of an invitation."""
    link = pcc.json("devices", "pair", name, "--may", may)["link"]
    address, _, code = link.partition("/#")
    assert address.startswith(ADDRESS)
    return str(code)


class Phone:
    """A browser elsewhere, as far as the protocol goes."""

    def __init__(self, port: int) -> None:
        self._key, self._port = Ed25519PrivateKey.generate(), port
        self.proof: dict[str, str] = {}

    @contextmanager
    def open(self, code: str = "", *, origin: str = ADDRESS, proof: Any = None) -> Iterator[Any]:
        """The connection, and the first that was said to it."""
        here = socket.create_connection(("127.0.0.1", self._port))
        with connect(
            f"ws://{HOST}/engine", sock=here, origin=origin, compression=None, proxy=None
        ) as page:
            challenge = json.loads(page.recv(10))["challenge"]
            text = f"perpetualcc device\n{origin}\n{challenge}".encode()
            self.proof = {
                "key": encoded(self._key.public_key().public_bytes_raw()),
                "signature": encoded(self._key.sign(text)),
                "code": code,
            }
            page.send(json.dumps(proof or self.proof))
            yield page

    def enters(self, page: ClientConnection) -> str:
        return str(json.loads(page.recv(10))["scope"])

    def is_refused(self, code: str = "", proof: Any = None) -> bool:
        with self.open(code, proof=proof) as page, suppress(ConnectionClosed):
            page.recv(10)
        return page.close_code == STRANGER


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@contextmanager
def served(pcc: Supervised) -> Iterator[int]:
    """The dashboard, and its port."""
    port = free_port()
    with dashboard(pcc, "--no-browser", "--port", str(port)):
        yield port


def test_a_paired_device_does_what_it_was_granted_and_nobody_else_anything(install):
    pcc = reachable(install(ASKS))
    session = pcc.start("Build the shop")
    pcc.wait(session, "WAITING_INPUT")
    with served(pcc) as port:
        phone, stranger = Phone(port), Phone(port)
        code = invited(pcc, "my phone")
        assert stranger.is_refused()
        assert stranger.is_refused("x" * 43)
        assert all(stranger.is_refused(proof=odd) for odd in ([1], {"key": 1}, {"code": None}))
        with phone.open(code) as page:
            assert phone.enters(page) == "answer"
            [waiting] = ask(page, "escalation.list")
            paused = ask(page, "session.pause", session=session)
            ruled = ask(page, "escalation.respond", number=1, text="SQLite", always=True)
            let_in = ask(page, "device.invite", name="friend", scope="work")
            answered = ask(page, "escalation.respond", number=1, text="SQLite")
        with phone.open(code) as page:
            assert phone.enters(page) == "answer", "the connection was lost before it heard of it"
        assert waiting["number"] == 1
        refused = {paused["code"], ruled["code"], let_in["code"]}
        assert refused == {ErrorCode.PERMISSION_DENIED}
        assert answered["answer"] == "SQLite"
        assert answered["settled_by"] == "my phone"
        assert stranger.is_refused(code)
        assert stranger.is_refused(proof=phone.proof), "a signature counts for another connection"
        pcc.wait(session, "COMPLETED")


def test_a_notification_ends_in_a_link_to_what_waits(install):
    webhook = Webhook()
    pcc = reachable(install(ASKS))
    pcc.pcc("config", "set", "notifications.urls", f'["{webhook.url}"]')
    with webhook.listening():
        pcc.wait(pcc.start("Build the shop"), "WAITING_INPUT")
        wait_until(lambda: webhook.bodies, within=60)
    assert webhook.bodies[0].endswith(f"Or on a paired device: {ADDRESS}/#/waiting/1")


def test_a_device_stays_paired_over_restarts_and_is_put_out_at_once(install):
    pcc = reachable(install("steps: [Done.]"))
    pcc.wait(pcc.start("Anything"))
    with served(pcc) as port:
        phone, other = Phone(port), Phone(port)
        with phone.open(invited(pcc, "phone", "look")) as page:
            phone.enters(page)
        with other.open(invited(pcc, "tablet", "work")) as page:
            other.enters(page)
        pcc.pcc("daemon", "restart")
        with phone.open() as page, other.open() as beside:
            assert (phone.enters(page), other.enters(beside)) == ("look", "work")
            assert [one["connections"] for one in pcc.json("devices", "list")] == [1, 1]
            pcc.pcc("devices", "revoke", "phone")
            with pytest.raises(ConnectionClosed):
                page.recv(5)
            assert ask(beside, "session.list")
        assert phone.is_refused()
        assert [one["name"] for one in pcc.json("devices", "list")] == ["tablet"]


def test_nobody_is_let_in_without_an_address_a_person_and_a_name_of_its_own(install):
    pcc = install("steps: [Done.]")
    nowhere = pcc.pcc("devices", "pair", "phone", check=False)
    assert "pcc config set dashboard.address" in nowhere.stderr
    reachable(pcc)
    with served(pcc) as port:
        phone = Phone(port)
        with phone.open(invited(pcc, "phone")) as page:
            phone.enters(page)
        twice = pcc.pcc("devices", "pair", "phone", check=False)
        odd = pcc.pcc("devices", "pair", "$(id)", check=False)
        much = pcc.pcc("devices", "pair", "friend", "--may", "everything", check=False)
    assert "A device is called 'phone' already" in twice.stderr
    assert "letters, digits" in odd.stderr
    assert "look, answer, work" in much.stderr
    environment = {**pcc.environment, **processes.mark(pcc.locations.data, RunId("r-1"))}
    agents = subprocess.run(
        pcc.command("devices", "pair", "friend"),
        env=environment, capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert agents.returncode == 1
    assert "only a person" in agents.stderr.lower()


def test_no_link_for_a_device_is_there_while_a_stranger_could_have_the_port(install):
    pcc = reachable(install("steps: [Done.]"))
    alone = pcc.pcc("devices", "pair", "phone", check=False)
    assert "No dashboard of yours runs" in alone.stderr
    assert pcc.json("devices", "list") == []
    with served(pcc):
        pair = subprocess.Popen(
            pcc.command("devices", "pair", "phone"),
            env=pcc.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert pair.stdout is not None
        assert pair.stdout.readline().startswith(f"{ADDRESS}/#")
    assert "the link was taken back" in pair.communicate(timeout=20)[1]
    assert pcc.json("devices", "list") == []


def test_a_dashboard_from_before_an_upgrade_is_told_of_when_a_device_is_to_be_paired(install):
    pcc = reachable(install("steps: [Done.]"))
    with served(pcc) as port:
        lock = pcc.locations.dashboard_lock(port)
        for version in ("0.0.1+1", ""):
            lock.write_text(version)
            old = pcc.pcc("devices", "pair", "phone", check=False)
            assert old.returncode == 1
            assert f"is of another version ({version or 'an older one'})" in old.stderr
        assert pcc.json("devices", "list") == []


def test_a_dashboard_beside_the_port_of_the_proxy_lets_no_device_in(install):
    pcc = reachable(install("steps: [Done.]"))
    with stranger_at(8420), dashboard(pcc) as (_, link):
        port = int(link.partition("/#")[0].rpartition(":")[2])
        with pytest.raises(InvalidStatus), Phone(port).open():
            pass
        assert pcc.pcc("devices", "pair", "phone", check=False).returncode == 1


@contextmanager
def stranger_at(port: int) -> Iterator[None]:
    """Somebody who listens there; after a while, whoever does and will not leave."""
    with ExitStack() as taken:
        deadline = time.monotonic() + 60
        while True:  # another test's dashboard leaves, and ours would get its port
            with suppress(OSError):
                taken.enter_context(socket.create_server(("127.0.0.1", port)))
                break
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        yield


@contextmanager
def https(directory: Path, target: int) -> Iterator[int]:
    """What a person's proxy does: ends the encryption, and passes on what comes as it is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(directory))
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError, ValueError):  # the other direction closes what this one reads
            while data := source.recv(65536):
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=pass_on, args=[client], daemon=True).start()

    def pass_on(client: socket.socket) -> None:
        with (
            suppress(OSError),
            context.wrap_socket(client, server_side=True) as outside,
            socket.create_connection(("127.0.0.1", target)) as inside,
        ):
            threading.Thread(target=pump, args=[inside, outside], daemon=True).start()
            pump(outside, inside)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.close()


def certificate(directory: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    private = key.private_bytes(
        form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = directory / "box.pem"
    path.write_bytes(private + made.public_bytes(form))
    return path


@pytest.mark.skipif(MISSING, reason="there is no browser: apt-get install chromium chromium-driver")
def test_a_phone_is_paired_by_its_link_answers_and_is_put_out(install, tmp_path):
    pcc = install(ASKS)
    session = pcc.start("Build the shop", "--session-name", "shop")
    pcc.wait(session, "WAITING_INPUT")
    own = free_port()
    flags = [f"--host-resolver-rules=MAP {HOST} 127.0.0.1", "--ignore-certificate-errors"]
    with https(tmp_path, own) as port, browsing(tmp_path / "profile", *flags) as browser:
        address = f"{ADDRESS}:{port}"
        reachable(pcc, address)
        with dashboard(pcc, "--no-browser", "--port", str(own)):
            browser.size(390, 800)
            browser.open(address)
            browser.sees("This browser is not paired")

            pair = subprocess.Popen(
                pcc.command("devices", "pair", "my phone"),
                env=pcc.environment, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert pair.stdout is not None
            link = pair.stdout.readline().strip()
            assert link.startswith(f"{address}/#")
            browser.open("about:blank")
            browser.open(link)
            browser.sees("Live")
            assert "Paired: my phone" in pair.communicate(timeout=20)[0]

            browser.open("about:blank")
            browser.open(f"{address}/#/waiting/1")
            browser.sees("MySQL")
            browser.press("SQLite")
            browser.press("Answer")
            browser.sees("Answered: SQLite")
            pcc.wait(session, "COMPLETED")
            browser.open(f"{address}/#/session/{session}")
            browser.sees("All is said and done.")
            assert "Add a task" not in browser.text
            assert browser.complaints() == []

            pcc.pcc("devices", "revoke", "my phone")
            browser.sees("This browser is not paired, or not any more.")
            assert "All is said and done." not in browser.text
            assert pcc.json("devices", "list") == []
    [settled] = pcc.events(session, "EscalationSettled")
    assert settled["decided_by"] == "my phone"
