-- Browsers elsewhere that a person let in.

CREATE TABLE devices (
    name       TEXT PRIMARY KEY,
    scope      TEXT NOT NULL,
    key        TEXT UNIQUE,      -- Ed25519, base64url; NULL: invited, and not there yet
    code       TEXT UNIQUE,      -- SHA-256 of an invitation's code; NULL: it was used
    made_at    REAL NOT NULL,
    expires_at REAL,             -- of the invitation
    seen_at    REAL
) STRICT;
