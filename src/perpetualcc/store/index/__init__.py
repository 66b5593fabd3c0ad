"""The index of a project's code: derived data in one SQLite file, rebuilt when it is damaged."""
