"""Corrected once, remembered for good: capture, correction detection, preferences (seed 004)."""
