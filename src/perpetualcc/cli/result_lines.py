"""What a person did with a worktree, as lines of a session's log."""

from collections.abc import Mapping
from typing import Any

from perpetualcc.cli.look import coloured
from perpetualcc.domain.texts import counted


def merged(event: Mapping[str, Any]) -> list[str]:
    way = f"{event['before'][:12]} → {event['after'][:12]}"
    what = f"{event['branch']} into {event['into']}: {counted(event['files'], 'file')}, {way}"
    return [f"{coloured('✓', 'green')} Merged {what}, by {event['by']}"]


def pushed(event: Mapping[str, Any]) -> list[str]:
    what = f"{event['branch']} to {event['remote']} ({event['address']}): {event['commit'][:12]}"
    return [f"{coloured('✓', 'green')} Pushed {what}, by {event['by']}"]


def discarded(event: Mapping[str, Any]) -> list[str]:
    back = f"back from there: pcc undo {event['session']} {event['kept']}"
    return [f"Thrown away: {event['branch'] or 'the worktree'}, by {event['by']}; {back}"]
