-- When the condition of a task that waits for one is looked at next.

CREATE TABLE looks (
    task TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    next REAL NOT NULL
) STRICT;
