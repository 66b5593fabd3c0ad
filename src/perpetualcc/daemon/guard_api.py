"""What clients may ask about trust and rules: the part of the methods that guards projects."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perpetualcc.daemon.gatekeeper import Guard
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.methods import Connection, Method, Params, one_of
from perpetualcc.permissions.rule_checks import lets_through, not_changed, refuse_dead
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject
from perpetualcc.store.guards import RuleStore, TrustStore


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardApi:
    """Trust records and a person's rules."""

    guard: Guard
    trust: TrustStore
    rules: RuleStore

    def methods(self) -> Mapping[str, Method]:
        return {
            "trust.show": Method(call=self.show_trust, params={"project": str}),
            "trust.set": Method(
                call=self.set_trust, params={"project": str, "hash": str}, is_decision=True
            ),
            "trust.forget": Method(
                call=self.forget_trust, params={"project": str}, is_decision=True
            ),
            "rule.list": Method(call=self.list_rules),
            "rule.add": Method(
                call=self.add_rule,
                params={
                    "effect": str,
                    "subject": str,
                    "pattern": str,
                    "includes_high": bool | None,
                    "project": str | None,
                    "note": str | None,
                },
                is_decision=True,
            ),
            "rule.remove": Method(call=self.remove_rule, params={"id": str}, is_decision=True),
        }

    async def show_trust(self, params: Params, _: Connection) -> Any:
        """What a project would load that can run code, and whether a person trusts it."""
        return await self.guard.describe(_place(params))

    async def set_trust(self, params: Params, _: Connection) -> Any:
        """
        Trust what the person saw: when it changed meanwhile, they must look again.

        Raises:
            PerpetualError: it changed, or it is more than can be looked at.
        """
        project = _place(params)
        now = await self.guard.describe(project)
        if now["hash"] != params["hash"]:
            raise PerpetualError(
                f"'{project}' changed while you looked at it",
                hint=f"pcc trust {shlex.quote(str(project))}",
            )
        if limit := next((one for one in now["surfaces"] if one["what"] == "limit"), None):
            raise PerpetualError(
                f"'{project}' cannot be trusted: {limit['file']} holds {limit['detail']}",
                hint="Take out what is too much, then look again",
            )
        await self.trust.trust(project, params["hash"])
        return await self.guard.describe(project)

    async def forget_trust(self, params: Params, _: Connection) -> Any:
        """Trust the project no longer."""
        return await self.trust.forget(_place(params))

    async def list_rules(self, _params: Params, _: Connection) -> Any:
        """What a person decided once and for all."""
        return [rule_data(rule) for rule in await self.rules.all()]

    async def add_rule(self, params: Params, _: Connection) -> Any:
        """
        Decide once and for all about a kind of call; `not_changed` says what stays as it is,
        `lets_through` what of HIGH nobody is asked about any more, where that is a whole kind.

        Raises:
            PerpetualError: a rule that names nothing, or what is never there.
        """
        if not params["pattern"].strip():
            raise PerpetualError(
                "A rule names what it is about", hint="pcc rules add allow kind 'git commit'"
            )
        rule = Rule(
            id=f"rule-{os.urandom(3).hex()}",
            effect=one_of(RuleEffect, params["effect"]),
            subject=one_of(RuleSubject, params["subject"]),
            pattern=params["pattern"],
            includes_high=bool(params["includes_high"]),
            project=params["project"] or "",
            note=params["note"] or "",
        )
        refuse_dead(rule, self.guard.settings)
        rule = await self.rules.add(rule)
        settings = self.guard.settings
        told = {"not_changed": not_changed(rule, settings)}
        return rule_data(rule) | told | {"lets_through": lets_through(rule, settings)}

    async def remove_rule(self, params: Params, _: Connection) -> Any:
        """Take a rule back."""
        await self.rules.remove(params["id"])
        return True


def rule_data(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "effect": rule.effect.value,
        "subject": rule.subject.value,
        "pattern": rule.pattern,
        "includes_high": rule.includes_high,
        "project": rule.project,
        "note": rule.note,
        "explanation": rule.explain(),
    }


def _place(params: Params) -> Path:
    """Raises PerpetualError: no path can be so."""
    if "\0" in params["project"]:
        raise PerpetualError("A project path holds no NUL character")
    return Path(params["project"])
