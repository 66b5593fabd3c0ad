-- A run that works past midnight has a row for each day; its last one tells what the run used before.

ALTER TABLE spending ADD COLUMN earlier_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN earlier_usd REAL NOT NULL DEFAULT 0;
