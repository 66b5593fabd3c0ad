-- Times are UTC epoch seconds. JSON is text. Booleans are 0 or 1.

CREATE TABLE projects (
    id         INTEGER PRIMARY KEY,
    path       TEXT NOT NULL UNIQUE,
    created_at REAL NOT NULL
) STRICT;

CREATE TABLE sessions (
    position       INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of creation, whatever the clock says
    id             TEXT NOT NULL UNIQUE,
    name           TEXT NOT NULL UNIQUE,
    project        INTEGER NOT NULL REFERENCES projects (id),
    status         TEXT NOT NULL,
    options        TEXT NOT NULL,
    created_at     REAL NOT NULL,
    updated_at     REAL NOT NULL,
    current_task   TEXT,
    claude_session TEXT,
    resumes_at     REAL,
    detail         TEXT NOT NULL DEFAULT '',
    tokens         INTEGER NOT NULL DEFAULT 0,
    context_window INTEGER NOT NULL DEFAULT 200000
) STRICT;
CREATE INDEX sessions_by_status ON sessions (status, position);
CREATE INDEX sessions_by_project ON sessions (project, position);

CREATE TABLE tasks (
    position     INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    group_name   TEXT NOT NULL,
    prompt       TEXT NOT NULL,
    priority     INTEGER NOT NULL,
    due          REAL,                                 -- NULL: only a signal wakes it
    lane         TEXT NOT NULL,
    state        TEXT NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL,
    fence        INTEGER NOT NULL DEFAULT 0,
    crashes      INTEGER NOT NULL DEFAULT 0,           -- in a row: a dispatch that settles clears it
    started      INTEGER NOT NULL DEFAULT 0,           -- it was dispatched and is not finished
    cancelling   INTEGER NOT NULL DEFAULT 0,           -- the settle that follows becomes cancelled
    owner        TEXT,                                 -- the engine that runs it
    payload      TEXT NOT NULL,
    signal       TEXT,
    answer       TEXT,
    result       TEXT NOT NULL DEFAULT '',
    packet       TEXT,
    blocked_by   TEXT,                                 -- the task whose failure parked this one
    created_at   REAL NOT NULL,
    updated_at   REAL NOT NULL
) STRICT;
-- Finished tasks pile up; what is next is found among the others only.
CREATE INDEX tasks_open ON tasks (group_name, state, started)
    WHERE state IN ('queued', 'running', 'waiting');
CREATE INDEX tasks_due ON tasks (due) WHERE state IN ('queued', 'waiting');
CREATE INDEX tasks_running ON tasks (owner) WHERE state = 'running';
CREATE INDEX tasks_signal ON tasks (signal) WHERE signal IS NOT NULL;
CREATE INDEX tasks_blocked ON tasks (blocked_by) WHERE blocked_by IS NOT NULL;
CREATE INDEX tasks_by_group ON tasks (group_name, position);
CREATE INDEX tasks_by_state ON tasks (state, position);

CREATE TABLE task_after (
    task  TEXT NOT NULL REFERENCES tasks (id),
    after TEXT NOT NULL REFERENCES tasks (id),
    PRIMARY KEY (task, after)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_after_reverse ON task_after (after);

CREATE TABLE task_groups (
    name       TEXT PRIMARY KEY,
    held       INTEGER NOT NULL DEFAULT 0,
    settled_at REAL NOT NULL DEFAULT 0                 -- for fairness: who was served last waits longest
) STRICT;

CREATE TABLE signals (
    name        TEXT PRIMARY KEY,                      -- one sender wins; the row stays, so it stays won
    payload     TEXT NOT NULL,
    sent_at     REAL NOT NULL,
    holder      TEXT,                                  -- the task that has been given it
    consumed_at REAL
) STRICT;

CREATE TABLE runs (
    position       INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    session        TEXT NOT NULL REFERENCES sessions (id),
    task           TEXT NOT NULL,
    claude_session TEXT NOT NULL,
    fence          INTEGER NOT NULL,
    started_at     REAL NOT NULL,
    ended_at       REAL,
    pid            INTEGER,
    process_start  TEXT,                               -- tells a process from a later one of that pid
    outcome        TEXT NOT NULL DEFAULT '',
    tokens_in      INTEGER NOT NULL DEFAULT 0,
    tokens_out     INTEGER NOT NULL DEFAULT 0,
    cost_usd       REAL NOT NULL DEFAULT 0,
    turns          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_session ON runs (session, position);
CREATE INDEX runs_by_task ON runs (task, position);
CREATE INDEX runs_open ON runs (position) WHERE ended_at IS NULL;

CREATE TABLE events (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      REAL NOT NULL,
    kind    TEXT NOT NULL,
    session TEXT,
    run     TEXT,
    task    TEXT,
    data    TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_session ON events (session, seq);

CREATE TABLE decisions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    at           REAL NOT NULL,
    session      TEXT NOT NULL,
    run          TEXT NOT NULL,
    request      TEXT NOT NULL,
    tool         TEXT NOT NULL,
    summary      TEXT NOT NULL,
    input        TEXT NOT NULL,
    input_digest TEXT NOT NULL,
    verdict      TEXT NOT NULL,
    risk         TEXT NOT NULL,
    confidence   REAL NOT NULL,
    reason       TEXT NOT NULL,
    decided_by   TEXT NOT NULL,
    message      TEXT NOT NULL
) STRICT;
CREATE INDEX decisions_by_session ON decisions (session, id);
CREATE INDEX decisions_by_request ON decisions (request);

CREATE TRIGGER decisions_are_never_edited BEFORE UPDATE ON decisions
BEGIN SELECT RAISE(ABORT, 'a decision is never edited: record a second one'); END;
CREATE TRIGGER decisions_are_never_deleted BEFORE DELETE ON decisions
BEGIN SELECT RAISE(ABORT, 'a decision is never deleted'); END;
CREATE TRIGGER events_are_never_edited BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never edited'); END;
