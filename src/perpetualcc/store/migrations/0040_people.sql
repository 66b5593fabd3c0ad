ALTER TABLE escalations ADD COLUMN severity INTEGER NOT NULL DEFAULT 1;   -- rank, 3 is critical
ALTER TABLE escalations ADD COLUMN digest TEXT NOT NULL DEFAULT '';      -- the same within a task is the same request
ALTER TABLE escalations ADD COLUMN packet TEXT NOT NULL DEFAULT '{}';
ALTER TABLE escalations ADD COLUMN default_answer TEXT;                  -- taken at the deadline
ALTER TABLE escalations ADD COLUMN deadline REAL;
ALTER TABLE escalations ADD COLUMN remind_at REAL;
ALTER TABLE escalations ADD COLUMN reminders INTEGER NOT NULL DEFAULT 0;
ALTER TABLE escalations ADD COLUMN used_at REAL;                         -- the answer reached whom it was for
DROP INDEX escalations_pending;
CREATE INDEX escalations_pending ON escalations (severity DESC, number) WHERE settled_at IS NULL;
CREATE INDEX escalations_due ON escalations (min(coalesce(remind_at, 1e99), coalesce(deadline, 1e99)))
    WHERE settled_at IS NULL;
CREATE INDEX escalations_by_task ON escalations (task, digest);
CREATE INDEX escalations_unused ON escalations (type) WHERE settled_at IS NOT NULL AND used_at IS NULL;

CREATE TABLE notifications (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    cause      TEXT NOT NULL,                          -- `event:<seq>`: each cause once a channel
    channel    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    session    TEXT,
    escalation INTEGER,
    title      TEXT NOT NULL,
    body       TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at REAL NOT NULL,
    due        REAL,                                   -- NULL when it has ended
    attempts   INTEGER NOT NULL DEFAULT 0,
    started_at REAL,                                   -- of the attempt under way
    ended_at   REAL,
    problem    TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX notifications_once ON notifications (cause, channel);
CREATE INDEX notifications_due ON notifications (due) WHERE due IS NOT NULL;
CREATE INDEX notifications_by_escalation ON notifications (escalation) WHERE escalation IS NOT NULL;

-- How far the event log has been read for people.
CREATE TABLE people_cursor (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq  INTEGER NOT NULL
) STRICT;
INSERT INTO people_cursor (only, seq) SELECT 1, coalesce(max(seq), 0) FROM events;
