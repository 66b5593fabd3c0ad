"""Ask a person: only what a machine should not decide, and never twice."""
