"""Telling people: what to say, through which channels, and a receipt for each."""
