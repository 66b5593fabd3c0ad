"""docs/rehearsal.md says what the code does."""

import re
from pathlib import Path

import pytest

from perpetualcc.rehearsal import read_scenario
from perpetualcc.rehearsal.reader import _SHORT
from perpetualcc.rehearsal.scenario import FailureKind
from perpetualcc.rehearsal.schema import SECTIONS, key_tables

PAGE = (Path(__file__).parents[3] / "docs" / "rehearsal.md").read_text(encoding="utf-8")


def test_every_key_is_documented_as_it_is():
    assert PAGE.rstrip().endswith(key_tables())


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_every_example_can_be_played(text):
    assert read_scenario(text).scenes[0].replies


@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_failure_is_documented(kind):
    [meaning] = [key.meaning for key in SECTIONS["fail"] if key.name == "kind"]

    assert f"`{kind}`" in meaning


def test_every_section_that_is_named_exists():
    named = {key.section for keys in SECTIONS.values() for key in keys if key.section}

    assert named | {"scenario"} == set(SECTIONS)
    assert set(_SHORT) <= set(SECTIONS)
