"""Text to chunks, definitions, imports and calls."""
