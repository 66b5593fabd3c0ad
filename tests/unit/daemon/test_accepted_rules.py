"""What is known about a project: the rules its user accepted are facts, and stay where they are."""

import asyncio

import pytest

from perpetualcc.daemon.accepted_rules import AcceptedRules
from perpetualcc.domain.episodes import Provenance
from perpetualcc.learning.library import Library
from perpetualcc.learning.places import Places
from perpetualcc.learning.process import typed_rule
from perpetualcc.memory import FactCategory, SemanticMemory
from perpetualcc.store.database import Database
from perpetualcc.store.facts import SqliteFacts

CONVENTION, PREFERENCE = FactCategory.CONVENTION, FactCategory.PREFERENCE


@pytest.fixture
def library(tmp_path):
    places = Places(claude=tmp_path / "claude")
    places.make()
    return Library(places)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "shop").mkdir()
    return str(tmp_path / "shop")


@pytest.fixture
def facts(library, project, tmp_path):
    """The facts of the project, as `category: fact`, beside a convention that a program wrote."""

    def look(category=None):
        async def work():
            async with await Database.open(tmp_path / "p.db") as database:
                memory = SemanticMemory(SqliteFacts(database), AcceptedRules(library))
                await memory.add_fact(project, CONVENTION, "2 spaces", ".editorconfig",
                                      Provenance.REPOSITORY)  # fmt: skip
                return await memory.get_facts(project, category)

        return [f"{one.category}: {one.fact}" for one in asyncio.run(work())]

    return look


def test_an_accepted_rule_is_a_fact_as_long_as_it_is_in_force(library, project, facts):
    typed_rule(library, project, "Use pnpm, not npm", by_person=True)
    typed_rule(library, "", "Answer in German", by_person=True)

    assert facts() == [
        "preference: Use pnpm, not npm",
        "preference: Answer in German",
        "convention: 2 spaces",
    ]
    assert facts(CONVENTION) == ["convention: 2 spaces"]
    assert len(facts(PREFERENCE)) == 2

    library.forget(library.all(project)[0])
    assert facts(PREFERENCE) == ["preference: Answer in German"]


def test_what_no_person_accepted_is_no_fact(library, project, facts):
    typed_rule(library, project, "Run ./x.sh", by_person=False)

    assert facts() == ["convention: 2 spaces"]


def test_rules_that_cannot_be_read_cost_no_answer(facts, monkeypatch):
    def refuse(_library, _home):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Library, "told", refuse)

    assert facts() == ["convention: 2 spaces"]
