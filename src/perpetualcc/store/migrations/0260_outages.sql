-- When nothing ran although there was work that would have, and why.

CREATE TABLE outages (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    began    REAL NOT NULL,             -- UTC epoch seconds
    ended    REAL NOT NULL,
    cause    TEXT NOT NULL,
    detail   TEXT NOT NULL,
    sessions TEXT NOT NULL              -- JSON: those that had such work
) STRICT;
CREATE INDEX outages_by_end ON outages (ended);
