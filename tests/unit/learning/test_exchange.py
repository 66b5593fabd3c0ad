"""What goes out as JSON and comes back from anywhere."""

import dataclasses
import json

import pytest

from perpetualcc.learning.exchange import ExportUnreadable, read_export
from perpetualcc.learning.library import Library
from perpetualcc.learning.places import Places
from perpetualcc.learning.preferences import Evidence, Status
from tests.fakes.preferences import preference


def test_what_is_imported_waits_for_review(library, project, tmp_path):
    export = tmp_path / "export.json"
    accepted = dataclasses.replace(preference(), status=Status.ACCEPTED, seal="x")
    export.write_text(json.dumps({"preferences": [{"project": project, **accepted.as_json()}]}))

    for home, one in read_export(export):
        library.put(home, one)

    assert [one.preference.status for one in library.all(project)] == [Status.CANDIDATE]


def exported(library):
    found = [{"project": one.project, **one.preference.as_json()} for one in library.all()]
    return json.dumps({"version": 1, "preferences": found})


def test_an_import_of_what_is_known_changes_nothing_however_often(library, project, tmp_path):
    rules = ["Use pnpm, not npm", "Never mock the database", "Write short commit messages"]
    for number, rule in enumerate(rules):
        for again in range(number + 1):
            library.remember(project, preference(rule, at=float(again)), event=f"{rule}{again}")
    library.accept(library.all(project)[0])
    library.reject(library.all(project)[1])
    yarn = preference("Use yarn", prefers={"f": "yarn"})
    library.remember(project, yarn, event="y")
    before = library.all()
    path = tmp_path / "own.json"
    path.write_text(exported(library))

    new = [library.put(home, one) for _ in range(3) for home, one in read_export(path)]

    assert library.all() == before
    assert not any(new)


def test_an_import_adds_what_another_machine_saw_once(library, project, tmp_path):
    there = Library(Places(claude=tmp_path / "there"))
    other = tmp_path / "other"
    other.mkdir()
    library.remember(project, preference(at=1.0), event="1")
    for number in range(4):
        seen = Evidence(event=f"t{number}", session="t", at=9.0 + number, said="again")
        there.remember(str(other), preference(at=9.0, evidence=(seen,)), event=f"t{number}")
    (theirs,) = there.all(str(other))

    for _ in range(3):
        library.put(project, theirs.preference)

    (one,) = library.all(project)
    assert (one.preference.seen, len(one.preference.evidence)) == (4, 5)
    assert one.preference.last_seen == 9.0


@pytest.mark.parametrize(
    "entry",
    [
        preference("").as_json() | {"project": "/p"},
        preference().as_json() | {"project": "relative"},
        preference().as_json() | {"project": "/a/../../b"},
        preference().as_json(),
    ],
)
def test_an_entry_without_rule_or_place_is_refused(tmp_path, entry):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"preferences": [entry]}))

    with pytest.raises(ExportUnreadable):
        read_export(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"preferences": [1]}', "\x00"])
def test_a_file_that_is_no_export_is_refused_with_a_hint(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)

    with pytest.raises(ExportUnreadable) as error:
        read_export(path)

    assert error.value.hint
