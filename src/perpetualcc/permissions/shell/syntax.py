"""What the grammar calls the parts of a command."""

SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
VALUES = SUBSTITUTIONS | {
    "word", "number", "string", "raw_string", "ansi_c_string", "translated_string",
    "concatenation", "simple_expansion", "expansion", "arithmetic_expansion", "brace_expression",
    "extglob_pattern", "regex", "variable_name", "test_operator", "special_variable_name",
}  # fmt: skip
REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
INSIDE_HEREDOC = (
    REDIRECTS | VALUES | {"heredoc_start", "heredoc_body", "heredoc_end", "heredoc_content"}
)
