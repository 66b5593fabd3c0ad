"""
The languages that are parsed, each with its grammar and the queries that find its parts.

Captures: `@function` or `@class` spans a definition and `@name` names it; `@owner` is the type of a
method that stands outside of it; `@import` is the text of an imported module; `@call` is the name
that is called.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A grammar wheel, and what to look for in its trees."""

    name: str
    grammar: str
    """Module of the wheel."""
    entry: str = "language"
    """Function of that module."""
    query: str
    comments: tuple[str, ...] = ("//", "/*", "*", "@")
    """What a line begins with that belongs to the definition below it."""


_JAVASCRIPT = """
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @function
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @function
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(assignment_expression left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression)]) @function
(import_statement source: (string) @import)
(export_statement source: (string) @import)
(call_expression function: (identifier) @_require arguments: (arguments . (string) @import)
  (#eq? @_require "require"))
(call_expression function: (import) arguments: (arguments . (string) @import))
(call_expression function: [(identifier) @call (member_expression property: (_) @call)])
(new_expression constructor: [(identifier) @call (member_expression property: (_) @call)])
"""

_TYPESCRIPT = (
    _JAVASCRIPT.replace("(field_definition property:", "(public_field_definition name:")
    + """
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(type_alias_declaration name: (_) @name) @class
(internal_module name: (_) @name) @class
(function_signature name: (_) @name) @function
(import_require_clause source: (string) @import)
"""
)

_C = """
(function_definition declarator: (_) @name) @function
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @class
(type_definition declarator: (type_identifier) @name) @class
(preproc_function_def name: (_) @name) @function
(preproc_include path: (_) @import)
(call_expression function: [(identifier) @call (field_expression field: (_) @call)])
"""

LANGUAGES: dict[str, Language] = {
    "python": Language(
        name="python",
        grammar="tree_sitter_python",
        query="""
(function_definition name: (_) @name) @function
(class_definition name: (_) @name) @class
(import_statement) @import
(import_from_statement) @import
(call function: [(identifier) @call (attribute attribute: (_) @call)])
""",
        comments=("#", "@"),
    ),
    "javascript": Language(name="javascript", grammar="tree_sitter_javascript", query=_JAVASCRIPT),
    "typescript": Language(
        name="typescript",
        grammar="tree_sitter_typescript",
        entry="language_typescript",
        query=_TYPESCRIPT,
    ),
    "tsx": Language(
        name="tsx", grammar="tree_sitter_typescript", entry="language_tsx", query=_TYPESCRIPT
    ),
    "go": Language(
        name="go",
        grammar="tree_sitter_go",
        query="""
(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @owner
  (generic_type type: (_) @owner)
  (pointer_type [(type_identifier) @owner (generic_type type: (_) @owner)])
])) name: (_) @name) @function
(type_spec name: (_) @name) @class
(import_spec path: (_) @import)
(call_expression function: [(identifier) @call (selector_expression field: (_) @call)])
""",
    ),
    "rust": Language(
        name="rust",
        grammar="tree_sitter_rust",
        query="""
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name) @function
(struct_item name: (_) @name) @class
(enum_item name: (_) @name) @class
(union_item name: (_) @name) @class
(trait_item name: (_) @name) @class
(impl_item type: (_) @name) @class
(mod_item name: (_) @name body: (_)) @class
(use_declaration argument: (_) @import)
(mod_item name: (_) @import !body)
(call_expression function: [(identifier) @call (field_expression field: (_) @call)
  (scoped_identifier name: (_) @call)])
(macro_invocation macro: (identifier) @call)
""",
        comments=("//", "/*", "*", "#["),
    ),
    "java": Language(
        name="java",
        grammar="tree_sitter_java",
        query="""
(method_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(annotation_type_declaration name: (_) @name) @class
(import_declaration (_) @import)
(method_invocation name: (_) @call)
(object_creation_expression type: (type_identifier) @call)
""",
    ),
    "c": Language(name="c", grammar="tree_sitter_c", query=_C),
    "cpp": Language(
        name="cpp",
        grammar="tree_sitter_cpp",
        query=_C
        + """
(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @class
(call_expression function: (qualified_identifier name: (_) @call))
""",
    ),
    "csharp": Language(
        name="csharp",
        grammar="tree_sitter_c_sharp",
        query="""
(method_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(local_function_statement name: (_) @name) @function
(property_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(namespace_declaration name: (_) @name) @class
(using_directive (_) @import)
(invocation_expression function: [(identifier) @call (member_access_expression name: (_) @call)])
(object_creation_expression type: (identifier) @call)
""",
    ),
    "ruby": Language(
        name="ruby",
        grammar="tree_sitter_ruby",
        query="""
(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(class name: (_) @name) @class
(module name: (_) @name) @class
(call method: (identifier) @_require arguments: (argument_list . (string) @import)
  (#match? @_require "^require(_relative)?$"))
(call method: (identifier) @call)
""",
        comments=("#",),
    ),
    "php": Language(
        name="php",
        grammar="tree_sitter_php",
        entry="language_php",
        query="""
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(trait_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(namespace_use_clause (_) @import)
(require_once_expression (_) @import)
(include_expression (_) @import)
(function_call_expression function: (name) @call)
(member_call_expression name: (_) @call)
(scoped_call_expression name: (_) @call)
(object_creation_expression (name) @call)
""",
        comments=("//", "/*", "*", "#"),
    ),
    "bash": Language(
        name="bash",
        grammar="tree_sitter_bash",
        query="""
(function_definition name: (_) @name) @function
(command name: (command_name) @_source . argument: (_) @import
  (#match? @_source "^(source|[.])$"))
(command name: (command_name (word) @call))
""",
        comments=("#",),
    ),
}

_SUFFIXES = {
    "python": "py pyi pyw pyx",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    "cpp": "cc cpp cxx c++ hh hpp hxx h inl ipp cu cuh",
    "csharp": "cs",
    "ruby": "rb rake gemspec",
    "php": "php phtml",
    "bash": "sh bash zsh bats ksh",
    "markdown": "md markdown mdx rst adoc asciidoc",
    "yaml": "yaml yml",
    "toml": "toml ini cfg conf properties editorconfig",
    "sql": "sql ddl",
}
_LANGUAGE_OF = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_NAMES = {
    "Rakefile": "ruby",
    "Gemfile": "ruby",
    "Vagrantfile": "ruby",
    ".bashrc": "bash",
    ".profile": "bash",
    "wscript": "python",
    "SConstruct": "python",
}
_INTERPRETERS = {
    "python": "python",
    "node": "javascript",
    "ruby": "ruby",
    "php": "php",
    "sh": "bash",
}


def language_of(path: str, first_line: str = "") -> str:
    """A key of `LANGUAGES`, the name of a document format, or `text`."""
    name = PurePosixPath(path)
    known = _LANGUAGE_OF.get(name.suffix[1:].lower()) or _NAMES.get(name.name)
    if known is None and not name.suffix and first_line.startswith("#!"):
        for interpreter, language in _INTERPRETERS.items():
            if interpreter in first_line:
                return language
    return known or "text"
