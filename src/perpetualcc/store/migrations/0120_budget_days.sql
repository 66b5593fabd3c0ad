-- What a person said about a budget for one day: it ends with the day.

CREATE TABLE budget_days (
    name    TEXT NOT NULL,
    day     TEXT NOT NULL,              -- local, as in `spending`
    allowed REAL,                       -- the budget of this day; NULL: as `budget_limits` says
    asked   INTEGER NOT NULL DEFAULT 0, -- 1: a person was asked, since it was last raised
    PRIMARY KEY (name, day)
) STRICT;
