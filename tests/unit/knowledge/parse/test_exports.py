"""What other files can reach is what the language says: `export`, `pub`, a capital in Go."""

from pathlib import Path

import pytest

from perpetualcc.knowledge.parse.file import parse_file
from perpetualcc.knowledge.parse.layout import ProjectLayout

FILES = {
    "shop.ts": (
        """
import { tax } from "./tax";
export const LIMIT = 3;
export function total(x: number) { return tax(x) + near(x); }
export default class Cart { add() {} }
export { tax as duty } from "./tax";
export * from "./types";
export * as money from "./money";
export type Id = string;
export interface Item { id: Id }
export enum Kind { A }
export abstract class Till {}
export const round = (x: number) => x, { a, b: c } = parts;
function near(x: number) { return x; }
function later() {}
export { later };
const own = 1;
""",
        (
            "variable LIMIT, function total, class Cart, value duty, module ./types,"
            " namespace money, type Id, interface Item, enum Kind, class Till, function round,"
            " variable a, variable c, function later"
        ),
    ),
    "shop.js": (
        """
const fs = require("fs");
function open() {}
class Till {}
exports.shut = function () {};
module.exports.late = open;
module.exports = { open, Till, limit: 3, pay() {} };
""",
        "function open, class Till, function shut, value late, value limit, function pay",
    ),
    "main.js": ("export default function () { return 1; }\nlet own;\n", "value default"),
    "shop.rs": (
        """
pub mod till;
mod own;
pub fn open() { helper() }
fn helper() {}
pub struct Store { pub a: u8 }
impl Store { pub fn get(&self) -> u8 { self.a } }
pub(crate) fn near() {}
pub use crate::till::drawer;
pub const MAX: usize = 3;
pub trait Load {}
pub enum Kind { A }
macro_rules! own_macro { () => {} }
#[macro_export]
macro_rules! shown { () => {} }
""",
        (
            "module till, function open, struct Store, function near, use crate::till::drawer,"
            " constant MAX, trait Load, enum Kind, macro shown"
        ),
    ),
    "shop.go": (
        (
            "package a\nconst Max = 3\nvar (\n\tErrGone = 1\n\tgone = 2\n)\nvar Def = 1\n"
            "type Store struct{}\nfunc (s Store) Get() {}\nfunc New() {}\nfunc open() {}\n"
        ),
        "constant Max, variable ErrGone, variable Def, class Store, function New",
    ),
    "shop.py": (
        (
            "import os\napp = object()\n_own = 1\nLIMIT, OTHER = 1, 2\ndef open(): pass\n"
            "class Till:\n    rate = 1\n    def pay(self): pass\ndef _near(): pass\napp.x = 1\n"
        ),
        "variable app, variable LIMIT, variable OTHER, function open, class Till",
    ),
    "shop.c": (
        (
            "static int own(void) { return 1; }\nstatic inline int near(void) { return 1; }\n"
            "int shown(void) { return own(); }\nstruct till { int a; };\n"
        ),
        "function shown, class till",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_exports_what_its_language_says(tmp_path: Path, name: str):
    text, expected = FILES[name]
    (tmp_path / name).write_text(text)

    found = parse_file(tmp_path, name, ProjectLayout())

    assert found is not None
    assert ", ".join(f"{one.kind} {one.name}" for one in found.exports) == expected


def test_what_is_exported_below_its_definition_is_found_where_it_is(tmp_path: Path):
    (tmp_path / "a.ts").write_text("function later() {\n  return 1;\n}\nexport { later };\n")

    found = parse_file(tmp_path, "a.ts", ProjectLayout())

    assert found is not None
    assert [(one.name, one.start, one.end) for one in found.exports] == [("later", 1, 3)]
