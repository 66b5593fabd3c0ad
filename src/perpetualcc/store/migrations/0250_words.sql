-- What people say to a Claude at work. Given: Claude Code has it, in this message of ours. Used: it
-- is in the conversation.

CREATE TABLE words (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order in which they were said
    session      TEXT NOT NULL REFERENCES sessions (id),
    task         TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    text         TEXT NOT NULL,                      -- as Claude is given it
    said_at      REAL NOT NULL,
    said_by      TEXT NOT NULL,
    key          TEXT UNIQUE,                        -- the client's: said twice with one is said once
    state        TEXT NOT NULL DEFAULT 'waiting',    -- waiting, given, used
    message      TEXT,                               -- a UUID, by which a transcript is asked
    conversation TEXT,
    given_at     REAL,
    used_at      REAL
) STRICT;
CREATE INDEX words_by_task ON words (task, number);
CREATE INDEX words_by_session ON words (session, number);
CREATE INDEX words_unheard ON words (session) WHERE state <> 'used';
