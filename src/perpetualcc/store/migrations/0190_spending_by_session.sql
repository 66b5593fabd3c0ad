-- What a session cost is shown in every list of sessions.
CREATE INDEX spending_by_session ON spending (session, tokens, usd);
