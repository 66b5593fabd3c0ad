-- A person was told of a condition that cannot be looked at: once, whoever looks next.

ALTER TABLE looks ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
