"""Chunks are small, in order, and lose nothing."""

from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.knowledge.parse.chunks import CodeChunks
from perpetualcc.knowledge.parse.pieces import MAX_CHARS, pieces
from perpetualcc.knowledge.parse.prose import prose_chunks
from perpetualcc.knowledge.parse.syntax import qualified_names, read_syntax


def chunks_of(text, language="python"):
    syntax = read_syntax(text, language)
    names = qualified_names(syntax.spans)
    return list(CodeChunks(text.split("\n"), syntax.spans, names, language))


def test_each_function_and_what_a_class_says_itself_are_chunks():
    body = "        value = compute_something(value)\n" * 15
    text = (
        '"""A shop."""\n\nimport os\n\nLIMIT = 10\n'
        + "SETTING = 'a value of some length'\n" * 4
        + "\n\n# Sells.\n@cached\nclass Shop:\n"
        '    """Where things are sold."""\n\n    name = "x"\n'
        + "    field = 'some default'\n" * 5
        + f"\n    def sell(self, value):\n{body}\n    def open(self, value):\n{body}\n"
    )

    chunks = chunks_of(text)

    assert [(chunk.kind, chunk.symbol) for chunk in chunks] == [
        ("module", ""),
        ("class", "Shop"),
        ("function", "Shop.sell"),
        ("function", "Shop.open"),
    ]
    assert chunks[1].text.startswith("# Sells.\n@cached\nclass Shop:")
    assert chunks[2].signature == "def sell(self, value):"


def test_a_long_function_is_cut_between_its_blocks_and_keeps_its_name():
    block = "    if ready:\n" + "        do_something_with(a, b, c)\n" * 10 + "\n"

    chunks = chunks_of("def long(a):\n" + block * 20)

    assert len(chunks) > 2
    assert {chunk.symbol for chunk in chunks} == {"long"}
    assert all(chunk.text.startswith(("def long", "    if ready")) for chunk in chunks)


def test_a_nested_function_stays_with_the_one_around_it():
    (chunk,) = chunks_of("def outer():\n    def inner():\n        pass\n    return inner\n")

    assert (chunk.symbol, chunk.start, chunk.end) == ("outer", 1, 4)


LINES = st.lists(
    st.sampled_from(
        [
            "def f(a):",
            "    x = 1",
            "class A:",
            "    def g(self):",
            "        return 2",
            "",
            "# c",
            "@deco",
        ]
    ),
    max_size=60,
)


@given(LINES)
def test_no_line_is_lost_and_no_chunk_is_too_long(lines):
    chunks = chunks_of("\n".join(lines))

    covered = {line for chunk in chunks for line in range(chunk.start, chunk.end + 1)}
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= covered
    assert all(len(chunk.text) <= MAX_CHARS for chunk in chunks)


@given(st.lists(st.integers(0, 5_000), max_size=12))
def test_pieces_are_in_order_and_bounded_for_any_line_lengths(lengths):
    lines = ["x" * length for length in lengths]

    found = list(pieces(lines, 0, len(lines) - 1))

    assert "".join(text.replace("\n", "") for _, _, text in found) == "".join(lines)
    assert all(len(text) <= MAX_CHARS for _, _, text in found)


def test_a_document_is_cut_at_its_headings():
    text = "intro\n\n# One\ntext\n\n## Two\n```\n# no heading\n```\n\nThree\n=====\nmore\n"

    chunks = list(prose_chunks(text.split("\n"), "markdown"))

    assert [chunk.symbol for chunk in chunks] == ["", "One", "One > Two", "Three"]
    assert (chunks[2].start, chunks[2].end) == (6, 9)


def test_yaml_toml_and_sql_are_cut_where_something_begins():
    long = "x" * 1_200
    yaml = f"first:\n  a: {long}\nsecond:\n  b: {long}\n"
    toml = f"[tool.one]\na = '{long}'\n[[tool.two]]\nb = '{long}'\n"
    sql = (
        f"CREATE TABLE one (a TEXT, -- {long}\n b);\n"
        f"CREATE INDEX IF NOT EXISTS two ON one (a); -- {long}\n"
    )

    assert [c.symbol for c in prose_chunks(yaml.split("\n"), "yaml")] == ["first", "second"]
    assert [c.symbol for c in prose_chunks(toml.split("\n"), "toml")] == ["tool.one", "tool.two"]
    assert [c.symbol for c in prose_chunks(sql.split("\n"), "sql")] == ["one", "two"]
