"""A device is who holds its key, here and now; nothing else counts."""

import base64
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from perpetualcc.domain.devices import checked_name
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway import identity
from perpetualcc.gateway.identity import Proof, is_proved, signed

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TEXT = signed("https://box.test", "a challenge")


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


PUBLIC = KEY.public_key().public_bytes_raw()
PROOF = Proof(key=encoded(PUBLIC), signature=encoded(KEY.sign(TEXT)))


def test_a_signature_counts_for_its_key_its_page_and_its_moment_alone():
    other = Ed25519PrivateKey.generate()

    assert is_proved(PROOF, TEXT)
    assert not is_proved(PROOF, signed("https://box.test", "another challenge"))
    assert not is_proved(PROOF, signed("https://evil.test", "a challenge"))
    assert not is_proved(replace(PROOF, key=encoded(other.public_key().public_bytes_raw())), TEXT)
    assert not is_proved(replace(PROOF, signature=encoded(other.sign(TEXT))), TEXT)


@pytest.mark.parametrize(
    "key",
    [
        *("", "x", "é" * 43, "\x00" * 43, PROOF.key + "=", PROOF.key[:-1], PROOF.key + "AAAA"),
        # The same bytes in other letters: one key would be several devices.
        base64.b64encode(PUBLIC).decode(),
        PROOF.key[:-1] + chr(ord(PROOF.key[-1]) + 1),
        encoded(bytes(32)),
    ],
)
def test_what_is_no_key_proves_nothing(key):
    assert not is_proved(replace(PROOF, key=key), TEXT)


def test_where_signatures_cannot_be_checked_what_to_install_is_said(monkeypatch):
    monkeypatch.setattr(identity, "find_spec", lambda _: None)

    with pytest.raises(PerpetualError) as refused:
        is_proved(PROOF, TEXT)

    assert "perpetualcc[remote]" in (refused.value.hint or "")


@pytest.mark.parametrize("name", ["", "  ", "x" * 41, "a\nb`id`", "$(id)", "a'b", "\u202ephone"])
def test_a_name_that_nobody_can_read_or_a_shell_might_run_is_refused(name):
    with pytest.raises(PerpetualError):
        checked_name(name)


@pytest.mark.parametrize("name", ["my phone", "Ännchens Telefon", "手机", "pixel-9.2"])
def test_names_of_people_s_own_are_kept(name):
    assert checked_name(f"  {name} ") == name
