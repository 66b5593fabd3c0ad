"""What a brain and a session's tools get."""

import json

import pytest

from perpetualcc.store.index.opening import open_knowledge


@pytest.fixture
def knowledge(project):
    return open_knowledge(project)


def test_a_question_gets_code_with_its_place_and_its_neighbours(knowledge):
    references = knowledge.retrieve_for_question("how is a password checked?", 2_000)

    assert (references[0].path, references[0].start) == ("src/shop/till.py", 12)
    assert "src/shop/money.py" in [reference.path for reference in references]


@pytest.mark.parametrize("budget", [0, 20, 60, 200])
def test_references_stay_within_the_budget(knowledge, budget):
    references = knowledge.retrieve_for_question("how is a password checked?", budget)

    assert sum(len(reference.text) // 4 + 15 for reference in references) <= budget


def test_the_search_tool_gives_plain_data(knowledge):
    answer = knowledge.search_code("round price")

    assert json.loads(json.dumps(answer))["results"][0]["file"] == "src/shop/money.py"
    assert 0 < len(answer["results"]) <= 5


def test_the_related_tool_gives_relations_or_says_what_is_unknown(knowledge):
    found = knowledge.related_code("round_price")
    missing = knowledge.related_code("nobody")

    assert found["related"][0]["relation"] in {"calls", "defines"}
    assert "nobody" in missing["note"]


def test_an_edit_is_known_to_the_next_question(knowledge, project):
    knowledge.search_code("price")
    (project / "src/shop/money.py").write_text("def zebra():\n    pass\n")

    assert knowledge.search_code("zebra")["results"][0]["file"] == "src/shop/money.py"
