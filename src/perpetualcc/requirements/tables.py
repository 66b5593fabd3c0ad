"""
What a row of a table states, told by the words over its columns.

"Decision | Alternatives | Why" puts what was chosen beside what was not, and a column of ids or
dates is nobody's key.
"""

import re
from collections.abc import Iterator

# Names of columns, folded to lower case.
_NOT_CHOSEN = re.compile(
    r"alternativ|considered|reject|instead|previous|former|formerly|\bold\b|\bwas\b|before|replac|"
    r"legacy|discard|not chosen|\bavoid|today|current|verworfen|bisher|\balt\b|descartad|anterior|"
    r"abandonn|ecart|"
    r"替代|备选|以前|отклон|раньше"
)
_ABOUT_THE_ROW = re.compile(
    r"^(?:prio\w*|status|owner|who|date|when|phase|milestone|effort|estimate|sprint|version|since|author|"
    r"source|link|ref\w*|responsib\w*|wer|datum|stand|p|优先级|状态|приоритет|статус|fecha|estado)$"
)
_NAMES_NOTHING = re.compile(
    r"^(?:#|id|no\.?|nr\.?|number|date|datum|fecha|when|ref|key|编号|日期|№)$"
)
_ID = re.compile(r"^(?:[a-z]{1,6}-?\d+(?:\.\d+)*|#?\d+\.?|\d{4}-\d\d(?:-\d\d)?|\d+(?:\.\d+)+)$")
# After a column of ids, this one makes the one between them the key.
_DECIDED = re.compile(
    r"decision|decided|choice|chosen|choose|value|answer|outcome|we use|entscheidung|gewählt|wert|"
    r"decisión|elección|valor|décision|choix|valeur|decisão|escolha|besluit|keuze|beslut|val|"
    r"решение|决定|決定"
)
_OVER = re.compile(
    r"\b(?:superseded|rejected|deprecated|obsolete|withdrawn|dropped|reverted|verworfen|abgelehnt|"
    r"veraltet|descartad\w|obsolet\w|abandonn\w+)\b"
)
NOT_CHOSEN = "Alternatives"
"""The key of what a table shows only to say that it was not chosen."""


def row_statements(header: list[str], cells: list[str]) -> Iterator[tuple[str, str]]:
    """
    Key and value of each statement of a row.

    An empty key means that the value is a sentence of its own.
    """
    titles = [*header, *[""] * len(cells)][: len(cells)]  # rows may be longer than their header
    names = [title.strip().lower() for title in titles]
    is_over = any(_OVER.search(cell.lower()) for cell in cells)
    keyless = bool(_NAMES_NOTHING.match(names[0]) or _ID.match(cells[0].lower()))
    if keyless and len(cells) > 2 and _DECIDED.search(names[2]):
        key, first = cells[1], 2
    else:
        key, first = ("", 1) if keyless else (cells[0], 1)
    stated = False
    for at in range(first, len(cells)):
        name, cell = names[at], cells[at]
        if not cell or _ABOUT_THE_ROW.match(name):
            continue
        if is_over or _NOT_CHOSEN.search(name):
            yield NOT_CHOSEN, cell
        elif not stated:
            stated = True
            yield key, cell
        else:
            yield " / ".join(part for part in (key, titles[at]) if part), cell
