"""`pcc learn list`, `review` and their like: what was learned, and what becomes of it."""

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.learning_group import learning_places, tell_unread
from perpetualcc.cli.look import one_line, print_json, printable, tell
from perpetualcc.cli.options import JsonOption, directory
from perpetualcc.cli.typist import is_agent, only_a_person
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import canonical, main_tree
from perpetualcc.domain.texts import counted
from perpetualcc.domain.times import dated

if TYPE_CHECKING:
    from perpetualcc.learning.library import Learned, Library

app = typer.Typer(rich_markup_mode=None)

ProjectOption = Annotated[Path | None, typer.Option(help="Only this project and the global rules")]
HomeOption = Annotated[Path | None, typer.Option(help="The project's directory")]
GlobalOption = Annotated[bool, typer.Option("--global", help="Only the rules of every project")]
IdArgument = Annotated[str, typer.Argument(help="The beginning of a preference's id")]


@app.command("list")
def list_(
    project: ProjectOption = None,
    pending: Annotated[bool, typer.Option("--pending", help="Only what waits for review")] = False,
    as_json: JsonOption = False,
) -> None:
    """
    List the preferences that are known.

    Example: pcc learn list --pending
    """
    tell_unread()
    library = open_library()
    where = _home(project)
    tell_damaged(library, where)
    waiting = library.pending(where, above=True)
    found = waiting if pending else library.all(where, above=True)
    if as_json:
        print_json([_as_json(one) for one in found])
        return
    for one in found:
        print(_row(one))
    if not found:
        none = 'Nothing learned yet. Say a rule yourself: pcc learn remember "…"'
        print("Nothing waits for review" if pending else none)
    for here, former in sorted({(one.project, one.former) for one in waiting if one.former}):
        print(f"Moved or copied from {one_line(former)}: {one_line(here)}")
        print("Its rules wait for your review again: pcc learn review")


@app.command()
def show(
    identity: IdArgument,
    project: ProjectOption = None,
    everywhere: GlobalOption = False,
    as_json: JsonOption = False,
) -> None:
    """
    Show one preference, with the words it came from.

    Example: pcc learn show 3f2a
    """
    one = open_library().find(identity, _home(project, everywhere=everywhere))
    if as_json:
        print_json(_as_json(one))
        return
    print(_row(one))
    print(f"  project: {one_line(one.project) or 'every project'}")
    for evidence in one.preference.evidence:
        when = dated(evidence.at)
        print(f"  {when}  {one_line(evidence.said)}")


@app.command()
def review(
    project: ProjectOption = None,
    accept: Annotated[list[str] | None, typer.Option(help="Accept this id, without asking")] = None,
    reject: Annotated[list[str] | None, typer.Option(help="Reject this id, without asking")] = None,
    everywhere: GlobalOption = False,
) -> None:
    """
    Accept, edit or reject what was learned, one by one.

    Example: pcc learn review
    """
    only_a_person("accepts what was learned")
    library, home = open_library(), _home(project, everywhere=everywhere)
    for identity in accept or []:
        one = library.find(identity, home, to_review=True)
        with _what_ends(library, one.project):
            print(f"Accepted: {one_line(library.accept(one).rule)}")
    for identity in reject or []:
        one = library.find(identity, home, to_review=True)
        library.reject(one)
        print(f"Rejected: {one_line(one.preference.rule)}")
    if accept or reject:
        return
    tell_unread()
    tell_damaged(library, home)
    waiting = library.pending(home)
    for number, one in enumerate(waiting, start=1):
        print(f"[{number}/{len(waiting)}] {_row(one)}")
        if one.former:
            print(f"  Said in {one_line(one.former)}, where the project was then")
        elif not one.is_ours:
            print("  It came with the project, an import or an older version:")
            print("  nothing shows that you said it")
        for rule in library.contrary_to(one):
            print(f"  instead of: {one_line(rule.rule)}")
        if not _ask(library, one):
            return
    print("Nothing waits for review" if not waiting else "Done")


def _ask(library: "Library", one: "Learned") -> bool:
    """One answer. False: the person wants to stop."""
    match _typed(one)[:1].lower():
        case "a" | "y":
            with _what_ends(library, one.project):
                library.accept(one)
        case "e":
            words = _new_words(one.preference.rule)
            with _what_ends(library, one.project):
                library.accept(one, rule=words)
        case "r":
            library.reject(one)
        case "q":
            return False
        case _:
            pass
    return True


def _typed(one: "Learned") -> str:
    """Raises PerpetualError, with what to type instead, where there is no terminal to answer at."""
    try:
        asked = "  accept, edit, reject, skip or quit? [a/e/r/s/q]"
        return str(typer.prompt(asked, default="s")).strip()
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        print()
        accept = f"pcc learn review --accept {one_line(one.preference.id)}"
        raise PerpetualError(
            "Nobody is there to answer, so it still waits",
            hint=f"{accept} (or --reject); all that wait: pcc learn list --pending --json",
        ) from None


@contextlib.contextmanager
def _what_ends(library: "Library", project: str) -> Iterator[None]:
    """Name the rules that a newer one took the place of."""
    before = library.in_force(project)
    yield
    still = {(one.scope, one.id) for one in library.in_force(project)}
    for one in before:
        if (one.scope, one.id) not in still:
            print(f"No longer in force: {one_line(one.rule)}")


def _new_words(rule: str) -> str:
    from perpetualcc.learning.preferences import says_something

    while not says_something(words := typer.prompt("  rule", default=one_line(rule)).strip()):
        print("  A rule needs words")
    return str(words)


@app.command()
def remember(
    rule: Annotated[str, typer.Argument(help="The rule in your words")],
    project: HomeOption = None,
    everywhere: Annotated[bool, typer.Option("--global", help="For every project")] = False,
) -> None:
    """
    Make a rule of your own at once: you type it, so it needs no review.

    Example: pcc learn remember "Use tabs in Makefiles" --global
    """
    from perpetualcc.learning.preferences import says_something
    from perpetualcc.learning.process import typed_rule

    if not says_something(rule):
        raise typer.BadParameter("a rule needs words", param_hint="RULE")
    if project is not None:
        directory(project)
    chosen = _home(project, everywhere=everywhere)
    where = _name_of(Path.cwd()) if chosen is None else chosen
    by_person = not is_agent()
    library = open_library()
    tell_damaged(library, where)
    with _what_ends(library, where):
        made = typed_rule(library, where, rule, by_person=by_person)
        told = f"for {printable(where)}" if where else "everywhere"
        print(f"Remembered {told}: {one_line(made.rule)}")
    if not by_person:
        print("It waits for your review: pcc learn review")


@app.command()
def forget(
    identity: IdArgument, project: ProjectOption = None, everywhere: GlobalOption = False
) -> None:
    """
    Remove a preference and the words it came from.

    Example: pcc learn forget 3f2a
    """
    only_a_person("forgets what was learned")
    library = open_library()
    one = library.find(identity, _home(project, everywhere=everywhere))
    library.forget(one)
    print(f"Forgotten: {one_line(one.preference.rule)}")


@app.command()
def auto(
    above: Annotated[
        float | None, typer.Option(min=0.5, max=0.99, help="Confidence from which to accept")
    ] = None,
    after: Annotated[
        int | None,
        typer.Option(min=1, help="How often it must have been said: 3 times unless said"),
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="Ask again")] = False,
) -> None:
    """
    Accept without review what was said often and surely. Off unless you turn it on.

    Example: pcc learn auto --above 0.95 --after 3
    """
    from perpetualcc.domain.private_files import write_whole
    from perpetualcc.learning.files import read_json

    only_a_person("accepts what was learned")
    if off and (above is not None or after is not None):
        raise Mistyped(
            "`--off` lets every preference wait, and `--above` and `--after` do not",
            hint="pcc learn auto --off",
        )
    places = learning_places()
    chosen = read_json(places.options)
    if off:
        places.options.unlink(missing_ok=True)
    elif above is not None or after is not None:
        wanted = (chosen or {}) | {
            name: value
            for name, value in (("accept_above", above), ("accept_after", after))
            if value is not None
        }
        if "accept_above" not in wanted:
            raise typer.BadParameter("say also --above which confidence", param_hint="--after")
        write_whole(places.options, json.dumps({"accept_after": 3} | wanted))
    chosen = read_json(places.options)
    if chosen is None or "accept_above" not in chosen:
        print("Every preference waits for review")
    else:
        often = chosen.get("accept_after", 3)
        print(f"Accepted above {chosen['accept_above']} after {often} repetitions")


@app.command("export")
def export(
    project: ProjectOption = None,
    output: Annotated[Path | None, typer.Option(help="A file instead of the terminal")] = None,
) -> None:
    """
    Write the preferences as JSON.

    Example: pcc learn export --output preferences.json
    """
    from perpetualcc.learning.exchange import write_export

    found = open_library().all(_home(project))
    text = json.dumps({"version": 1, "preferences": [_as_json(one) for one in found]},
                      ensure_ascii=False, indent=2)  # fmt: skip
    if output is None:
        print(text)
    else:
        write_export(output, text + "\n")
        print(f"{counted(len(found), 'preference')} written to {output}")


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(help="A file that `export` wrote")],
    project: HomeOption = None,
) -> None:
    """
    Read an export. What is new in it waits for your review; what is known stays as it is.

    Example: pcc learn import preferences.json
    """
    from perpetualcc.learning.exchange import read_export
    from perpetualcc.learning.preferences import Status

    only_a_person("accepts what was learned")
    if project is not None:
        directory(project)
    library, chosen = open_library(), _home(project)
    entries = read_export(source)
    found = [one for one in entries if one[1].status not in {Status.SUPERSEDED, Status.REJECTED}]
    new = sum(library.put(home and (chosen or home), one) for home, one in found)
    if new or not entries:
        print(f"New: {new}" + (", to be reviewed with `pcc learn review`" if new else ""))
    if new < len(found):
        print(f"Known already: {len(found) - new}, nothing is counted twice")
    if past := len(entries) - len(found):
        print(f"Superseded or rejected where they come from: {past}, left out")


def _home(project: Path | None, *, everywhere: bool = False) -> str | None:
    """The library's name of what was chosen; None: nothing was."""
    if everywhere and project:
        raise typer.BadParameter(
            "a rule of every project is of no --project", param_hint="--global"
        )
    if everywhere:
        return ""
    return _name_of(project) if project else None


def _name_of(folder: Path) -> str:
    """What is learned in a worktree belongs to the repository's main working tree."""
    return str(main_tree(canonical(folder)))


def open_library() -> "Library":
    from perpetualcc.learning.library import Library

    return Library(learning_places())


def tell_damaged(library: "Library", where: str | None = None) -> None:
    """Say which memories are lost until somebody mends them: their rules reach no session."""
    found = library.damaged() if where is None else library.damaged(where)
    for path in found:
        tell(
            f"note: {str(path)!r} cannot be read, so the rules in it are not known: mend it (marks"
            " of a merge are no JSON) or delete it. What is learned meanwhile is kept elsewhere"
        )


def _row(one: "Learned") -> str:
    known = one.preference
    where = "global" if not one.project else Path(one.project).name
    row = (
        f"{known.id}  {known.status:<10} {known.confidence:.2f} x{known.seen:<3} "
        f"{known.category:<13} {where:<16} {known.rule}"
    )
    return printable(row).replace("\n", " ")  # of a file that anybody may have written


def _as_json(one: "Learned") -> dict[str, Any]:
    return {"project": one.project, **one.preference.as_json()}
