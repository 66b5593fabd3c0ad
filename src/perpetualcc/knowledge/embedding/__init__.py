"""The embedding models that can be asked: one on this machine, two behind an API."""
