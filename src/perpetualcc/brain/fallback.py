"""One threshold for all brains: below it a person is asked."""

THRESHOLD = 0.7
"""Seed 000, `confidence_threshold`."""
