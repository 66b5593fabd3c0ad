-- What happened, what works, what is true here (seed 000, Component 8), each with its origin.
CREATE TABLE episodes (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT '',
    timestamp REAL NOT NULL,
    event_type TEXT NOT NULL,
    context TEXT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('success', 'failure', '')),
    rationale TEXT NOT NULL,
    embedding BLOB,
    provenance TEXT NOT NULL,
    last_useful REAL
) STRICT;
CREATE INDEX episodes_by_session ON episodes (session_id, id);
CREATE INDEX episodes_by_age ON episodes (provenance, timestamp);
-- Only the index: the terms are cut in Python, for every script, and not kept twice.
CREATE VIRTUAL TABLE episode_terms USING fts5 (terms, content = '', detail = none, columnsize = 0);

CREATE TABLE procedures (
    id INTEGER PRIMARY KEY,
    event_type TEXT NOT NULL,
    trigger_pattern TEXT NOT NULL,
    action TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0.0 AND 1.0),
    success_count INTEGER NOT NULL DEFAULT 0,
    failure_count INTEGER NOT NULL DEFAULT 0,
    provenance TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    UNIQUE (event_type, trigger_pattern)
) STRICT;

CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    project_path TEXT NOT NULL,
    category TEXT NOT NULL,
    fact TEXT NOT NULL,
    source TEXT NOT NULL,
    provenance TEXT NOT NULL,
    created_at REAL NOT NULL,
    last_useful REAL,
    UNIQUE (project_path, category, fact)
) STRICT;
