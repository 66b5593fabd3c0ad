"""The graph knows who imports, defines and calls whom, also after a change."""

import pytest

from perpetualcc.knowledge.code_graph import UnknownEntity

TILL = "src/shop/till.py"


def edges(graph, entity, depth=1):
    return {
        (str(e.edge.source), str(e.edge.kind), str(e.edge.target))
        for e in graph.related(entity, depth)
    }


def test_a_file_knows_its_imports_definitions_and_importers(graph):
    assert edges(graph, TILL) == {
        (TILL, "imports", "src/shop/money.py"),
        ("src/shop/__init__.py", "imports", TILL),
        ("tests/test_till.py", "imports", TILL),
        (TILL, "defines", f"{TILL}::Till"),
        (TILL, "defines", f"{TILL}::check_password"),
    }


def test_a_method_knows_what_it_calls_and_who_calls_it(graph):
    assert edges(graph, "Till.open_drawer") == {
        (f"{TILL}::Till.open_drawer", "calls", f"{TILL}::check_password"),
        (f"{TILL}::Till.open_drawer", "calls", "src/shop/money.py::round_price"),
        ("src/main.py::run", "calls", f"{TILL}::Till.open_drawer"),
        (f"{TILL}::Till", "defines", f"{TILL}::Till.open_drawer"),
    }


def test_depth_reaches_further_and_names_each_entity_once(graph):
    near = [str(one.node) for one in graph.related("round_price", 1)]
    far = [str(one.node) for one in graph.related("round_price", 3)]

    assert near == [x for x in far if x in near]
    assert f"{TILL}::check_password" in far
    assert len(far) == len(set(far))


@pytest.mark.parametrize("name", ["till.py", "shop/till.py", TILL])
def test_a_file_may_be_named_by_the_end_of_its_path(graph, name):
    assert graph.get_file_context(name)["path"] == TILL


def test_a_file_context_has_imports_exports_and_callers(graph):
    context = graph.get_file_context(TILL)

    assert context["imports"] == [
        {"module": ".money:round_price", "file": "src/shop/money.py", "line": 1}
    ]
    assert context["imported_by"] == ["src/shop/__init__.py", "tests/test_till.py"]
    assert [entry["name"] for entry in context["exports"]] == ["Till", "check_password"]
    assert {"file": "src/main.py", "in": "run", "calls": "open_drawer", "line": 5} in context[
        "callers"
    ]


def test_a_changed_file_has_new_edges(graph, pipeline, project):
    (project / "src/main.py").write_text("from shop.money import round_price\nround_price(1)\n")
    pipeline.index_project()

    assert ("src/main.py", "calls", "src/shop/money.py::round_price") in edges(graph, "round_price")
    assert ("src/main.py::run", "calls", f"{TILL}::Till.open_drawer") not in edges(
        graph, "Till.open_drawer"
    )


def test_a_new_file_answers_an_old_import(graph, pipeline, project):
    (project / "src/late.py").write_text("import early\n")
    pipeline.index_project()
    before = graph.get_file_context("late.py")["imports"]
    (project / "src/early.py").write_text("")
    pipeline.index_project()

    after = graph.get_file_context("late.py")["imports"]

    assert (before[0]["file"], after[0]["file"]) == (None, "src/early.py")


@pytest.mark.parametrize("entity", ["nobody", "", "%", "_", "a::b", "\0"])
def test_an_unknown_entity_says_so(graph, entity):
    with pytest.raises(UnknownEntity):
        graph.related(entity)


def test_a_method_of_go_is_its_receivers_and_what_begins_small_is_not_exported(
    graph, pipeline, project
):
    (project / "store.go").write_text(
        "package a\ntype Store struct{}\nfunc (s *Store) Get() { open() }\n"
        "func (o Other) Put() {}\nfunc open() {}\nfunc New() {}\n"
    )
    pipeline.index_project()

    assert edges(graph, "Store.Get") == {
        ("store.go::Store.Get", "calls", "store.go::open"),
        ("store.go::Store", "defines", "store.go::Store.Get"),
    }
    assert ("store.go", "defines", "store.go::Other.Put") in edges(graph, "store.go::Other.Put")
    exports = graph.get_file_context("store.go")["exports"]
    assert [entry["name"] for entry in exports] == ["Store", "New"]
