-- Days whose digest was sent, or had nothing to tell: never two, whatever the clock does.
CREATE TABLE digests (
    day TEXT PRIMARY KEY,                              -- local: `2026-11-28`
    at  REAL NOT NULL
) STRICT, WITHOUT ROWID;
