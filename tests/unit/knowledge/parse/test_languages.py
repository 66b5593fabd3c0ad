"""Every language gives its definitions, imports and calls; broken code gives what is left."""

import pytest

from perpetualcc.knowledge.parse.languages import LANGUAGES, language_of
from perpetualcc.knowledge.parse.syntax import call_sites, qualified_names, read_syntax

SOURCES = {
    "python": (
        (
            "import os\nfrom .a import b\nclass Shop(Base):\n    @cached\n    def sell(self, x):\n"
            "        return pay(x)\n"
        ),
        ["Shop", "Shop.sell"],
        ["import os", "from .a import b"],
        {("pay", "Shop.sell")},
    ),
    "javascript": (
        (
            'import a from "./a";\nconst b = require("b");\n'
            "class Shop { sell(x) { return pay(x); } }\n"
            "export const open = async () => { till.open(); };\nexports.shut = function () {};\n"
        ),
        ["Shop", "Shop.sell", "open", "shut"],
        ['"./a"', '"b"'],
        {("pay", "Shop.sell"), ("open", "open"), ("require", "")},
    ),
    "typescript": (
        (
            'import type { A } from "./a";\ninterface Shop { sell(): void }\nenum Kind { A }\n'
            "export function open<T>(x: T): T { return pay(x); }\n"
        ),
        ["Shop", "Kind", "open"],
        ['"./a"'],
        {("pay", "open")},
    ),
    "tsx": (
        "export function Shop() { return <Till onPay={() => pay(1)} />; }\n",
        ["Shop"],
        [],
        {("pay", "Shop")},
    ),
    "go": (
        (
            'package a\nimport "net/http"\ntype Shop struct{}\n'
            "func (s *Shop) Sell(x int) { http.Pay(x) }\n"
            "func (b Box[T]) Open() {}\nfunc New() {}\n"
        ),
        ["Shop", "Shop.Sell", "Box.Open", "New"],
        ['"net/http"'],
        {("Pay", "Shop.Sell")},
    ),
    "rust": (
        "use crate::till::Till;\nstruct Shop;\nimpl Shop { fn sell(&self) { pay(1); } }\n",
        ["Shop", "Shop", "Shop.sell"],
        ["crate::till::Till"],
        {("pay", "Shop.sell")},
    ),
    "java": (
        "import a.b.Till;\nclass Shop { void sell(int x) { till.pay(x); } }\n",
        ["Shop", "Shop.sell"],
        ["a.b.Till"],
        {("pay", "Shop.sell")},
    ),
    "c": (
        '#include "till.h"\nstruct shop { int a; };\nstatic char *sell(int x) { return pay(x); }\n',
        ["shop", "sell"],
        ['"till.h"'],
        {("pay", "sell")},
    ),
    "cpp": (
        (
            "#include <till>\nnamespace n {\nclass Shop { void sell() { pay(); } };\n}\n"
            "int n::Shop::count(int a) { return 1; }\n"
        ),
        ["n", "n.Shop", "n.Shop.sell", "n.Shop.count"],
        ["<till>"],
        {("pay", "n.Shop.sell")},
    ),
    "csharp": (
        "using A.B;\nclass Shop {\n void Sell() { Pay(); }\n int Count { get; }\n}\n",
        ["Shop", "Shop.Sell", "Shop.Count"],
        ["A.B"],
        {("Pay", "Shop.Sell")},
    ),
    "ruby": (
        'require_relative "till"\nclass Shop\n  def sell(x)\n    pay(x)\n  end\nend\n',
        ["Shop", "Shop.sell"],
        ['"till"'],
        {("pay", "Shop.sell"), ("require_relative", "")},
    ),
    "php": (
        "<?php\nuse A\\B;\nclass Shop {\n function sell() { $this->pay(); }\n}\n",
        ["Shop", "Shop.sell"],
        ["A\\B"],
        {("pay", "Shop.sell")},
    ),
    "bash": (
        "source ./till.sh\nsell() {\n  pay 1\n}\n",
        ["sell"],
        ["./till.sh"],
        {("pay", "sell"), ("source", "")},
    ),
}


def test_every_language_has_a_sample():
    assert set(SOURCES) == set(LANGUAGES)


@pytest.mark.parametrize("language", list(SOURCES))
def test_definitions_imports_and_calls_are_found(language):
    text, definitions, imports, calls = SOURCES[language]

    syntax = read_syntax(text, language)
    names = qualified_names(syntax.spans)

    assert list(names) == definitions
    assert [entry.text for entry in syntax.imports] == imports
    assert {(call.name, call.caller) for call in call_sites(syntax, names)} == calls


@pytest.mark.parametrize("language", list(SOURCES))
def test_half_a_file_still_parses(language):
    text = SOURCES[language][0]

    for end in range(0, len(text), 7):
        lines = text[:end].count("\n") + 1
        syntax = read_syntax(text[:end] + "\x07(((", language)
        assert all(span.start <= span.end <= lines for span in syntax.spans)


def test_what_stands_before_a_syntax_error_is_found():
    syntax = read_syntax(
        "def good():\n    pass\n\ndef broken(:\n  ]]\n\ndef after():\n    pass\n", "python"
    )

    assert {"good", "after"} <= {span.name for span in syntax.spans}


LANGUAGE_OF = [
    ("a/b.PY", "", "python"),
    ("tool", "#!/usr/bin/env python3", "python"),
    ("run", "#!/bin/bash", "bash"),
    ("README", "hello", "text"),
    ("a.tsx", "", "tsx"),
    ("a.unknown", "", "text"),
]


@pytest.mark.parametrize(("path", "first_line", "language"), LANGUAGE_OF)
def test_the_name_or_the_first_line_tells_the_language(path, first_line, language):
    assert language_of(path, first_line) == language
