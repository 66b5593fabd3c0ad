-- The work in a project's directory as it was before a task, or before something was put back.

CREATE TABLE snapshots (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    session     TEXT NOT NULL REFERENCES sessions (id),
    name        TEXT NOT NULL,               -- the task's id, or undo-1, undo-2, …
    task        TEXT,                        -- NULL: it was made before something was put back
    at          REAL NOT NULL,
    top         TEXT NOT NULL,               -- the working tree; empty: there is no snapshot
    prefix      TEXT NOT NULL DEFAULT '',    -- the project in it
    commit_id   TEXT NOT NULL DEFAULT '',    -- empty: there is no snapshot
    head        TEXT NOT NULL DEFAULT '',
    branch      TEXT NOT NULL DEFAULT '',
    left_out    TEXT NOT NULL DEFAULT '[]',
    trouble     TEXT NOT NULL DEFAULT '',    -- why there is none
    is_kept     INTEGER NOT NULL DEFAULT 0,  -- the ref leads to the commit
    UNIQUE (session, name)
) STRICT;
