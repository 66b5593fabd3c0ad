-- What a person answers in one project says nothing about another. Empty: everywhere.
CREATE TABLE procedures_of_projects (
    id INTEGER PRIMARY KEY,
    project TEXT NOT NULL DEFAULT '',
    event_type TEXT NOT NULL,
    trigger_pattern TEXT NOT NULL,
    action TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0.0 AND 1.0),
    success_count INTEGER NOT NULL DEFAULT 0,
    failure_count INTEGER NOT NULL DEFAULT 0,
    provenance TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    UNIQUE (event_type, project, trigger_pattern)
) STRICT;
INSERT INTO procedures_of_projects
    (event_type, trigger_pattern, action, confidence, success_count, failure_count, provenance,
     created_at, updated_at)
SELECT event_type, trigger_pattern, action, confidence, success_count, failure_count, provenance,
       created_at, updated_at
FROM procedures;
DROP TABLE procedures;
ALTER TABLE procedures_of_projects RENAME TO procedures;
