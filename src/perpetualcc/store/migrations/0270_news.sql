-- Days whose digest was sent, or had nothing to tell: never two, whatever the clock does.
CREATE TABLE digests (
    day TEXT PRIMARY KEY,                              -- local: `2026-11-28`
    at  REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- A session that is over says how many of its calls were refused.
CREATE INDEX decisions_refused ON decisions (session) WHERE verdict = 'deny';
-- Claude's own list of what is to be done, found without what else it did.
CREATE INDEX decisions_todo ON decisions (session, id)
    WHERE tool IN ('TodoWrite', 'TaskCreate', 'TaskUpdate');
