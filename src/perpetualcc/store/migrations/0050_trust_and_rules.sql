-- What guards a project is kept here, out of the reach of an agent that may write in the project.

CREATE TABLE trust (
    project    TEXT PRIMARY KEY,
    hash       TEXT NOT NULL,                          -- of what the person saw
    trusted_at REAL NOT NULL
) STRICT;

CREATE TABLE rules (
    position      INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,
    effect        TEXT NOT NULL,
    subject       TEXT NOT NULL,
    pattern       TEXT NOT NULL,
    includes_high INTEGER NOT NULL,
    project       TEXT NOT NULL,
    note          TEXT NOT NULL,
    made_at       REAL NOT NULL
) STRICT;
