"""
What the rule-based brain knows, and how it reads. No AI, no network, no clock.

Vocabulary is data (`*.toml`); the modules only say how it is used.
"""
