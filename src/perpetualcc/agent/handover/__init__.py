"""Moving a session from one run to the next, before its context is full."""
