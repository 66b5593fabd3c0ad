"""Agents at work: what sessions there are, and what may happen to them."""
