"""Where a service's key comes from. A key is never part of an error, a log or a `repr`."""

import importlib
from collections.abc import Mapping
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.installing import pip_install

_ENVIRONMENT = "env:"
_KEY_STORE = "keyring:"
_SERVICE = "perpetualcc"


def resolve_key(value: str, environment: Mapping[str, str], *, setting: str) -> str:
    """
    The key that `env:NAME` or `keyring:NAME` names, or the value itself.

    Raises:
        PerpetualError: there is none; the hint says where to put it.
    """
    if value.startswith(_ENVIRONMENT):
        name = value.removeprefix(_ENVIRONMENT)
        key = environment.get(name, "").strip()
        if not key:
            raise PerpetualError(
                f"{setting} is in the environment variable {name!r}, which is not set",
                hint=f"export {name}=…",
            )
        return key
    if value.startswith(_KEY_STORE):
        return _from_key_store(value.removeprefix(_KEY_STORE), setting)
    if not value.strip():
        raise PerpetualError(f"{setting} is empty", hint="Set it to env:NAME or keyring:NAME")
    return value.strip()


def store_key(name: str, key: str) -> str:
    """
    Put a key into the system's key store; returns the value for the configuration file.

    Raises:
        PerpetualError: there is no key store here.
    """
    try:
        _key_store().set_password(_SERVICE, name, key)
    except _errors() as error:
        raise _unusable(error) from error
    return f"{_KEY_STORE}{name}"


def _from_key_store(name: str, setting: str) -> str:
    try:
        key = _key_store().get_password(_SERVICE, name)
    except _errors() as error:
        raise _unusable(error) from error
    if not key:
        raise PerpetualError(
            f"{setting} is {name!r} in the system's key store, which has none of that name",
            hint=f"keyring set {_SERVICE} {name}",
        )
    return str(key)


def _key_store() -> Any:
    try:
        return importlib.import_module("keyring")
    except ImportError as error:
        raise PerpetualError(
            "The system's key store needs the package keyring",
            hint=pip_install("perpetualcc[keyring]"),
        ) from error


def _errors() -> type[Exception]:
    errors: type[Exception] = _key_store().errors.KeyringError
    return errors


def _unusable(error: Exception) -> PerpetualError:
    return PerpetualError(
        f"The system's key store cannot be used: {type(error).__name__}",
        hint="Use env:NAME instead",
    )
