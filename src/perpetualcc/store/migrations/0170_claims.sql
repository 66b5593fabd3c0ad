-- What Claude says is done, until its checks have proved it.

CREATE TABLE claims (
    task   TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    result TEXT NOT NULL,
    failed INTEGER NOT NULL,         -- how often its checks have failed
    report TEXT NOT NULL             -- what they came to; empty: they are to be run
) STRICT;
