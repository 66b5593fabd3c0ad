"""PerpetualCC keeps Claude Code working around the clock, and explains every decision it takes."""

__version__ = "0.1.0"
