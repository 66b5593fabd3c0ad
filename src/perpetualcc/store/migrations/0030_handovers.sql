CREATE TABLE handovers (
    position       INTEGER PRIMARY KEY AUTOINCREMENT,
    session        TEXT NOT NULL REFERENCES sessions (id),
    task           TEXT NOT NULL,
    iteration      INTEGER NOT NULL,
    run            TEXT,
    claude_session TEXT,                               -- the conversation that ends with it
    reason         TEXT NOT NULL,
    begun_at       REAL NOT NULL,
    done_at        REAL,                               -- NULL: due, or interrupted by a crash
    manner         TEXT NOT NULL,
    trouble        TEXT NOT NULL,
    document       TEXT NOT NULL,
    findings       TEXT NOT NULL,
    completed      TEXT NOT NULL,
    UNIQUE (session, iteration)
) STRICT;
CREATE INDEX runs_by_conversation ON runs (claude_session);
