"""The only home of the Claude SDK."""
