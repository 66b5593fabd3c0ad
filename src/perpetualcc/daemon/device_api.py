"""What clients may ask about devices, and how one of them is let in and put out again."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from weakref import WeakSet

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.devices import Device, Scope, checked_name, digest_of
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway import identity
from perpetualcc.gateway.dashboard.guards import may
from perpetualcc.gateway.methods import Connection, Method, Params
from perpetualcc.gateway.protocol import ErrorCode, ProtocolError
from perpetualcc.store.devices import DeviceStore

INVITATION = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceApi:
    """Devices that a person paired. Each connection of theirs may do what was granted, no more."""

    devices: DeviceStore
    clock: Clock
    _here: dict[str, WeakSet[Connection]] = field(default_factory=dict)
    """The connections of each device."""

    def methods(self) -> Mapping[str, Method]:
        return {
            "device.list": Method(call=self.list),
            "device.invite": Method(
                call=self.invite, params={"name": str, "scope": str}, is_decision=True
            ),
            "device.revoke": Method(call=self.revoke, params={"name": str}, is_decision=True),
            "device.enter": Method(
                call=self.enter,
                params={
                    "key": str,
                    "signature": str,
                    "origin": str,
                    "challenge": str,
                    "code": str | None,
                },
            ),
        }

    async def list(self, _params: Params, _: Connection) -> Any:
        """The paired devices, and the invitations that still count."""
        return [
            {**device_data(one), "connections": len(self._here.get(one.name, ()))}
            for one in await self.devices.all()
        ]

    async def invite(self, params: Params, _: Connection) -> Any:
        """
        Let one browser in that shows the `code` before `expires_at`.

        Raises:
            PerpetualError: no such scope, the name is taken, or signatures cannot be checked.
        """
        identity.check_installed()
        name, code = checked_name(params["name"]), secrets.token_urlsafe(32)
        expires_at = self.clock.now() + INVITATION.total_seconds()
        await self.devices.invite(name, _scope(params["scope"]), digest_of(code), expires_at)
        return {"name": name, "code": code, "expires_at": expires_at}

    async def revoke(self, params: Params, _: Connection) -> Any:
        """Let a device in no longer, and hang up on it; with an invitation, take it back."""
        found = await self.devices.remove(params["name"])
        for connection in self._here.pop(params["name"], ()):
            connection.end()
        return found

    async def enter(self, params: Params, connection: Connection) -> Any:
        """
        From now on this connection is a device's, and may do what that was granted.

        Raises:
            ProtocolError: AUTH_FAILED: not signed by its key, not paired, or the code was used.
        """
        proof = identity.Proof(key=params["key"], signature=params["signature"])
        text = identity.signed(params["origin"], params["challenge"])
        device: Device | None = None
        if identity.is_proved(proof, text):
            if code := params["code"]:
                device = await self.devices.pair(digest_of(code), proof.key)
            # One that never heard that it was let in shows its code again.
            device = device or await self.devices.with_key(proof.key)
        if device is None:
            raise ProtocolError(ErrorCode.AUTH_FAILED, "This browser is not paired")
        connection.stand(device.name, partial(may, device.scope))
        self._here.setdefault(device.name, WeakSet()).add(connection)
        return {"name": device.name, "scope": device.scope}


def _scope(word: str) -> Scope:
    try:
        return Scope(word)
    except ValueError:
        raise PerpetualError(
            f"A device may {', '.join(Scope)}; not {word!r}", hint="pcc devices pair --help"
        ) from None


def device_data(device: Device) -> dict[str, Any]:
    """A device as clients see it."""
    return {
        "name": device.name,
        "scope": device.scope.value,
        "is_paired": bool(device.key),
        "made_at": device.made_at,
        "expires_at": device.expires_at,
        "seen_at": device.seen_at,
    }
