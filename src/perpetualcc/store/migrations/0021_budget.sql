-- What was spent, run by run, and what runs at work have reserved.

CREATE TABLE budget_limits (
    name  TEXT PRIMARY KEY,
    value REAL NOT NULL
) STRICT;

CREATE TABLE spending (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,
    session         TEXT NOT NULL,
    task            TEXT NOT NULL,
    unattended      INTEGER NOT NULL,
    resume_tokens   INTEGER NOT NULL,
    day             TEXT NOT NULL,              -- local: a budget is a person's
    started_at      REAL NOT NULL,
    ended_at        REAL,                       -- NULL: the run is at work
    tokens          INTEGER NOT NULL DEFAULT 0, -- fresh ones: input, cache writes, output
    usd             REAL NOT NULL DEFAULT 0,
    reserved_tokens INTEGER NOT NULL DEFAULT 0, -- what it may use in all before it asks again
    reserved_usd    REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX spending_by_day ON spending (day);
CREATE INDEX spending_by_task ON spending (task);
CREATE UNIQUE INDEX spending_at_work ON spending (task) WHERE ended_at IS NULL;

CREATE TABLE usage_windows (
    window    TEXT PRIMARY KEY,
    used      REAL NOT NULL,
    resets_at REAL
) STRICT;
