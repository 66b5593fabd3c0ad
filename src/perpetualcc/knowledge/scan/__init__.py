"""Which files there are, which of them are worth reading, and how they are read."""
