-- Which limits stopped which tasks, and until when. Times are UTC epoch seconds.

CREATE TABLE limit_waits (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    at        REAL NOT NULL,
    session   TEXT NOT NULL,
    task      TEXT NOT NULL,
    window    TEXT NOT NULL,
    model     TEXT NOT NULL,
    resets_at REAL,                  -- NULL: nobody said
    due       REAL NOT NULL,
    fallback  TEXT NOT NULL,         -- the model that goes on instead of waiting
    over_at   REAL                   -- when the task got on again
) STRICT;
CREATE INDEX limit_waits_open ON limit_waits (task, number) WHERE over_at IS NULL;
CREATE INDEX limit_waits_by_window ON limit_waits (window, number) WHERE over_at IS NULL;
