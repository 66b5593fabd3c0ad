-- What goals are cut into, from the proposal on.

CREATE TABLE plans (
    goal   TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    parts  TEXT NOT NULL,            -- JSON: title, prompt, after and checks of each
    agreed INTEGER NOT NULL          -- 1: it is followed
) STRICT;
