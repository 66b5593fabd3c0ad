"""Knows what programs do with their words."""
