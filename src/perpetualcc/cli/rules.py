"""`pcc rules`: what a person has decided once and for all."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, table
from perpetualcc.cli.options import JsonOption, ListingGroup, directory
from perpetualcc.cli.rules_import import import_rules
from perpetualcc.domain.errors import PerpetualError

app = typer.Typer(
    help="Your own rules about tool calls; alone it lists them.",
    cls=ListingGroup,
    add_completion=False,
    rich_markup_mode=None,
)


@app.command("list")
def list_rules(
    ctx: typer.Context,
    as_json: JsonOption = False,
) -> None:
    """
    List the rules, in the order they were made.

    Example: pcc rules list
    """
    with connect(ctx.obj) as daemon:
        rules = daemon.call("rule.list")
    if as_json:
        print_json(rules)
    elif not rules:
        print("No rules yet. Add one with: pcc rules add allow kind 'git commit'")
    else:
        rows = [[rule["id"], rule["explanation"], rule["note"]] for rule in rules]
        print(table(["Rule", "What it does", "Note"], rows))


app.command("import")(import_rules)

RuleArgument = Annotated[
    str, typer.Argument(help="As `pcc rules list` shows it", autocompletion=completion.rules)
]


@app.command()
def explain(
    ctx: typer.Context,
    rule: RuleArgument,
    as_json: JsonOption = False,
) -> None:
    """
    Say what a rule does, and when it counts.

    Example: pcc rules explain rule-1a2b3c
    """
    with connect(ctx.obj) as daemon:
        found = next((one for one in daemon.call("rule.list") if one["id"] == rule), None)
    if found is None:
        raise PerpetualError(f"No rule is called {rule!r}", hint="See them with: pcc rules list")
    if as_json:
        print_json({**found, "counts": _when(found)})
        return
    print(found["explanation"])
    print(f"Counts   {_when(found)}")
    print(f"Note     {found['note'] or '-'}")
    print(f"Remove   pcc rules remove {rule}")


def _when(rule: dict[str, Any]) -> str:
    if rule["effect"] == "deny":
        return "where any part of a call is that; no other rule and no brain takes it back"
    covered = "when every part of a call that is not LOW is covered by such a rule"
    if rule["includes_high"]:
        return f"{covered}, HIGH too (it was made with --high)"
    return f"{covered}; not for what is HIGH, which needs a rule made with --high"


_EFFECTS = ("allow", "deny")
_SUBJECTS = ("kind", "command", "line", "path")


@app.command()
def add(
    ctx: typer.Context,
    effect: Annotated[
        str,
        typer.Argument(help="allow or deny", autocompletion=completion.one_of(*_EFFECTS)),
    ],
    subject: Annotated[
        str,
        typer.Argument(
            help="kind, command (its beginning), line (all of it) or path",
            autocompletion=completion.one_of(*_SUBJECTS),
        ),
    ],
    pattern: Annotated[str, typer.Argument(help="Such as 'git commit' or 'docs/*.md'")],
    project: Annotated[
        Path | None, typer.Option(help="Only in this project, and the folders in it")
    ] = None,
    high: Annotated[bool, typer.Option("--high", help="Also where the risk is HIGH")] = False,
    note: Annotated[str, typer.Option(help="Why, for later")] = "",
) -> None:
    """
    Make a rule. `pcc explain` says which kind a call is, and what the rule does to it.

    A rule that could never match anything is refused.

    Example: pcc rules add allow command 'docker compose' --project ./api
    """
    for word, known in ((effect, _EFFECTS), (subject, _SUBJECTS)):
        if word not in known:
            raise Mistyped(
                f"{word!r} is not one of {', '.join(known)}",
                hint="Such as: pcc rules add allow command 'git commit'",
            )
    if not pattern.strip():
        hint = f"pcc rules add {effect} kind 'git commit'"
        raise Mistyped("A rule names what it is about", hint=hint)
    place = None if project is None else directory(project)
    with connect(ctx.obj) as daemon:
        made = daemon.call(
            "rule.add",
            effect=effect,
            subject=subject,
            pattern=pattern,
            project=None if place is None else str(place),
            includes_high=high,
            note=note,
        )
    print(f"{made['id']}: {made['explanation']}")
    if made["not_changed"]:
        print(f"But {made['not_changed']}")
    if told := made.get("lets_through"):
        print(f"Warning: {told}", file=sys.stderr)
        narrower = "pcc rules add allow line 'ALL ITS WORDS' --high --project DIR"
        print(f"hint:  Narrower: {narrower}", file=sys.stderr)
        print(f"hint:  To take it back: pcc rules remove {made['id']}", file=sys.stderr)


@app.command()
def remove(
    ctx: typer.Context,
    rule: RuleArgument,
) -> None:
    """
    Remove a rule.

    Example: pcc rules remove rule-1a2b3c
    """
    with connect(ctx.obj) as daemon:
        daemon.call("rule.remove", id=rule)
    print(f"Removed {rule}")
