"""Where keys come from, and that they are never shown."""

import sys
from types import SimpleNamespace

import pytest

from perpetualcc.brain.keys import resolve_key, store_key
from perpetualcc.brain.settings import GeminiSettings
from perpetualcc.domain.errors import PerpetualError


def test_a_key_comes_from_the_environment_or_is_the_value_itself() -> None:
    assert resolve_key("env:K", {"K": " abc "}, setting="The key") == "abc"
    assert resolve_key("abc", {}, setting="The key") == "abc"


@pytest.mark.parametrize("value", ["env:K", "", "  "])
def test_a_missing_key_is_an_error_with_a_hint(value: str) -> None:
    with pytest.raises(PerpetualError) as refused:
        resolve_key(value, {}, setting="The key")

    assert refused.value.hint


def test_the_key_store_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)

    with pytest.raises(PerpetualError) as refused:
        resolve_key("keyring:gemini", {}, setting="The key")

    assert refused.value.hint == f"{sys.executable} -m pip install 'perpetualcc[keyring]'"


def test_a_stored_key_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[tuple[str, str], str] = {}
    store = SimpleNamespace(
        set_password=lambda service, name, key: kept.update({(service, name): key}),
        get_password=lambda service, name: kept.get((service, name)),
        errors=SimpleNamespace(KeyringError=RuntimeError),
    )
    monkeypatch.setitem(sys.modules, "keyring", store)

    value = store_key("gemini", "s3cret")

    assert value == "keyring:gemini"
    assert resolve_key(value, {}, setting="The key") == "s3cret"
    with pytest.raises(PerpetualError):
        resolve_key("keyring:other", {}, setting="The key")


def test_settings_do_not_show_their_key() -> None:
    assert "s3cret" not in repr(GeminiSettings(api_key="s3cret"))


def test_a_real_key_store_keeps_the_key_in_its_own_file(tmp_path, monkeypatch) -> None:
    from keyring import get_keyring, set_keyring
    from keyrings.alt.file import PlaintextKeyring

    before, store = get_keyring(), PlaintextKeyring()
    monkeypatch.setattr(PlaintextKeyring, "file_path", str(tmp_path / "home" / "keys.cfg"))
    set_keyring(store)
    try:
        value = store_key("gemini", "s3cret-key-123")

        assert value == "keyring:gemini"
        assert resolve_key(value, {}, setting="The key") == "s3cret-key-123"
        assert (tmp_path / "home" / "keys.cfg").stat().st_mode & 0o077 == 0
        with pytest.raises(PerpetualError) as refused:
            resolve_key("keyring:other", {}, setting="The key")
        assert "keyring set perpetualcc other" in refused.value.hint
    finally:
        set_keyring(before)
