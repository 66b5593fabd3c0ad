"""Cycles, layers, dependencies and orphans, as the imports have them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.knowledge.structure import Cycle, Dependency, structure_of

SHOP = {
    "main": ["till", "stock"],
    "till": ["money", "drawer"],
    "drawer": ["lock"],
    "lock": ["till"],
    "stock": ["money"],
    "money": [],
    "notes": [],
}
FILES = st.integers(0, 12).map(str)
PROJECTS = st.dictionaries(FILES, st.lists(FILES, max_size=5), max_size=13)


def test_a_small_shop_is_reported():
    found = structure_of(SHOP)

    assert (found.files, found.imports) == (7, 7)
    assert found.cycles == (
        Cycle(files=("drawer", "lock", "till"), shortest=("drawer", "lock", "till")),
    )
    assert found.layers == (("money", "notes"), ("drawer", "lock", "stock", "till"), ("main",))
    assert found.orphans == ("notes",)
    assert found.dependencies[:2] == (
        Dependency(path="money", importers=2, reach=5),
        Dependency(path="till", importers=2, reach=3),
    )


def test_the_smallest_circle_of_a_large_cycle_is_shown():
    imports = {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["a", "c"]}

    (cycle,) = structure_of(imports).cycles

    assert (cycle.files, cycle.shortest) == (("a", "b", "c", "d"), ("c", "d"))


def test_a_chain_longer_than_the_stack_is_layers():
    imports = {f"{n:05}": [f"{n + 1:05}"] for n in range(20_000)}

    found = structure_of(imports)

    assert len(found.layers) == 20_000
    assert found.cycles == ()


def test_a_file_that_imports_itself_or_what_is_unknown_is_no_cycle():
    assert structure_of({"a": ["a", "elsewhere"]}).orphans == ("a",)
    assert structure_of({}).layers == ()


@given(PROJECTS)
def test_files_share_a_cycle_exactly_when_each_reaches_the_other(imports):
    reached = {path: reach(imports, path) for path in imports}
    together = {
        (one, other)
        for one in imports
        for other in imports
        if one != other and other in reached[one] and one in reached[other]
    }

    found = structure_of(imports)

    assert together == {
        (one, other) for c in found.cycles for one in c.files for other in c.files if one != other
    }
    for cycle in found.cycles:
        circle = [*cycle.shortest, cycle.shortest[0]]
        assert all(b in imports[a] for a, b in pairwise(circle))


@given(PROJECTS)
def test_a_file_stands_above_all_that_it_imports_cycles_aside(imports):
    found = structure_of(imports)
    height = {path: n for n, layer in enumerate(found.layers) for path in layer}
    cycle_of = {path: cycle for cycle in found.cycles for path in cycle.files}

    assert sorted(height) == sorted(imports)
    for path, imported in imports.items():
        for other in imported:
            if other in imports and other != path:
                shared = path in cycle_of and cycle_of[path] is cycle_of.get(other)
                assert height[path] == height[other] if shared else height[path] > height[other]


def reach(imports, start):
    seen, waiting = set(), [start]
    while waiting:
        new = [p for p in imports[waiting.pop()] if p in imports and p not in seen]
        seen.update(new)
        waiting += new
    return seen
