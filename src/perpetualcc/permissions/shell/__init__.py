"""Reads a command line as the shell does, without running any of it."""
