"""What a remark is, repeated or contradicted, before any file is."""

import json
import subprocess
import sys
import time

import pytest

from perpetualcc.learning.preferences import Status, contradicts, from_json, merge
from tests.fakes.preferences import preference


def test_repetition_raises_and_counts():
    known = merge((preference(),), preference("use pnpm not npm please", at=2.0))

    assert [one.seen for one in known] == [2]
    assert known[0].confidence > 0.8
    assert len(known[0].evidence) == 2


def test_contradiction_lowers_and_both_stay():
    old = preference(prefers={"node_packages": "pnpm"})
    new = preference("Use yarn, not pnpm", prefers={"node_packages": "yarn"})

    known = merge((old,), new)

    assert contradicts(old, new)
    assert [one.confidence for one in known] == [0.4, 0.8]


def test_json_and_back_is_the_same():
    one = preference(status=Status.ACCEPTED, prefers={"a": "b"}, seal="s")

    assert from_json(json.loads(json.dumps(one.as_json()))) == one


@pytest.mark.parametrize("number", [float("nan"), 1e300, -1e300, float("inf")])
def test_no_number_of_a_file_is_one_that_cannot_be_shown(number):
    entry = preference().as_json() | {"first_seen": number, "confidence": number, "seen": 1}
    entry["evidence"][0]["at"] = number

    one = from_json(entry)

    assert time.localtime(one.evidence[0].at).tm_year <= 9999
    assert 0.0 <= one.confidence <= 1.0
    assert json.loads(json.dumps(one.as_json(), allow_nan=False))


@pytest.mark.parametrize("identity", ["", "a/../b", "\x1b[31m", "A" * 8, "abcd12345"])
def test_an_id_that_nobody_could_type_is_made_anew(identity):
    one = from_json(preference().as_json() | {"id": identity, "scope": "elsewhere"})

    assert (one.id, one.scope) == (preference().id, "project")


def test_a_list_of_preferences_loads_no_language(library, project, places):
    library.remember(project, preference(prefers={"node_packages": "pnpm"}), event="1")

    code = (
        "import sys, pathlib; from perpetualcc.learning.library import Library;"
        "from perpetualcc.learning.places import Places;"
        "print(len(Library(Places(claude=pathlib.Path(sys.argv[1]))).all(sys.argv[2])),"
        " 'perpetualcc.learning.corrections' in sys.modules)"
    )
    words = [sys.executable, "-c", code, str(places.claude), project]
    assert subprocess.check_output(words, text=True) == "1 False\n"
