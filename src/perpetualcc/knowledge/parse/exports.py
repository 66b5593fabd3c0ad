"""
What a file shows to other files.

Where a language says it in the text (`export`, `pub`), only that counts; elsewhere it is what
stands at the top and whose name does not hide it. In the queries, which begin at the root of a
tree, a capture is the kind and `@name` the name; a `value` is what an expression gives.
"""

import re
from collections.abc import Iterable

from perpetualcc.knowledge.values import Definition, Export

_JAVASCRIPT = """
(program (export_statement declaration: [
  (function_declaration name: (_) @name)
  (generator_function_declaration name: (_) @name)
] @function))
(program (export_statement declaration: (class_declaration name: (_) @name) @class))
(program (export_statement declaration: [
  (lexical_declaration (variable_declarator name: (identifier) @name))
  (variable_declaration (variable_declarator name: (identifier) @name))
  (lexical_declaration (variable_declarator name: (object_pattern [
    (shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)])))
] @variable))
(program (export_statement (export_clause (export_specifier name: (_) @name !alias) @value)))
(program (export_statement (export_clause (export_specifier alias: (_) @name) @value)))
(program (export_statement (namespace_export (_) @name) @namespace))
(program (export_statement "*" source: (_) @name) @module)
(program (export_statement "default" @name value: (_) @value))
(program (expression_statement (assignment_expression left: (member_expression
    object: (identifier) @_exports property: (_) @name)) @value)
  (#eq? @_exports "exports"))
(program (expression_statement (assignment_expression left: (member_expression
    object: (member_expression) @_exports property: (_) @name)) @value)
  (#eq? @_exports "module.exports"))
(program (expression_statement (assignment_expression left: (member_expression) @_exports
    right: (object [(shorthand_property_identifier) @name (pair key: (_) @name)
      (method_definition name: (_) @name)] @value)))
  (#eq? @_exports "module.exports"))
(program (expression_statement (assignment_expression left: (member_expression) @_exports
    right: (identifier) @name) @value)
  (#eq? @_exports "module.exports"))
"""
_TYPESCRIPT = (
    _JAVASCRIPT
    + """
(program (export_statement declaration: (function_signature name: (_) @name) @function))
(program (export_statement declaration: (abstract_class_declaration name: (_) @name) @class))
(program (export_statement declaration: (interface_declaration name: (_) @name) @interface))
(program (export_statement declaration: (type_alias_declaration name: (_) @name) @type))
(program (export_statement declaration: (enum_declaration name: (_) @name) @enum))
(program (export_statement declaration: (internal_module name: (_) @name) @namespace))
"""
)
_RUST = """
(source_file (function_item (visibility_modifier) name: (_) @name) @function)
(source_file (struct_item (visibility_modifier) name: (_) @name) @struct)
(source_file (union_item (visibility_modifier) name: (_) @name) @struct)
(source_file (enum_item (visibility_modifier) name: (_) @name) @enum)
(source_file (trait_item (visibility_modifier) name: (_) @name) @trait)
(source_file (type_item (visibility_modifier) name: (_) @name) @type)
(source_file (const_item (visibility_modifier) name: (_) @name) @constant)
(source_file (static_item (visibility_modifier) name: (_) @name) @constant)
(source_file (mod_item (visibility_modifier) name: (_) @name) @module)
(source_file (use_declaration (visibility_modifier) argument: (_) @name) @use)
(source_file (attribute_item) @_attribute . (macro_definition name: (_) @name) @macro
  (#match? @_attribute "macro_export"))
"""
QUERIES = {
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "rust": _RUST,
    "python": """
(module (expression_statement (assignment left: (identifier) @name) @variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @variable))
""",
    "go": """
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable)))
""",
}
_SAID = frozenset({"javascript", "typescript", "tsx", "rust"})
"""Nothing else of such a file can be reached from another."""

_UNSURE = frozenset({"value", "variable"})
"""What may be a function or a class: then it is told as one."""

_OWN = re.compile(r"\s*(?:inline\s+)?static\b")
"""What a function of C begins with that no other file sees."""


def exports(
    said: Iterable[Export], definitions: Iterable[Definition], lines: list[str], language: str
) -> tuple[Export, ...]:
    """Each name once, in the order of the text; where it is defined here, that is its place."""
    tops = {entry.name: entry for entry in definitions if "." not in entry.qualified}
    found: dict[str, Export] = {}
    if language not in _SAID:
        found = {name: _of(entry) for name, entry in tops.items() if not _is_own(entry, lines)}
    for one in said:
        defined = tops.get(one.name) if one.kind in _UNSURE else None
        found.setdefault(one.name, one if defined is None else _of(defined))
    shown = (one for one in found.values() if language in _SAID or _is_public(one.name, language))
    return tuple(sorted(shown, key=lambda one: one.start))


def _of(entry: Definition) -> Export:
    return Export(name=entry.name, kind=entry.kind.value, start=entry.start, end=entry.end)


def _is_own(entry: Definition, lines: list[str]) -> bool:
    return _OWN.match(lines[entry.start - 1]) is not None


def _is_public(name: str, language: str) -> bool:
    """By its first letter, as far as that tells: Go exports what begins with a capital."""
    return name[:1].isupper() if language == "go" else not name.startswith("_")
