CREATE TABLE escalations (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    session    TEXT NOT NULL,
    run        TEXT NOT NULL,
    task       TEXT NOT NULL,
    request    TEXT NOT NULL,
    type       TEXT NOT NULL,
    title      TEXT NOT NULL,
    context    TEXT NOT NULL,
    options    TEXT NOT NULL,
    suggestion TEXT NOT NULL,
    confidence REAL NOT NULL,
    raw        TEXT NOT NULL,
    raised_at  REAL NOT NULL,
    settled_at REAL,
    answer     TEXT,
    settled_by TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX escalations_once ON escalations (run, request);
CREATE INDEX escalations_pending ON escalations (number) WHERE settled_at IS NULL;
CREATE INDEX escalations_by_session ON escalations (session, number);
