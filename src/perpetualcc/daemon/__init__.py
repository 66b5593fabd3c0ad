"""The two processes that keep working when nobody looks: a tiny supervisor and the engine."""
