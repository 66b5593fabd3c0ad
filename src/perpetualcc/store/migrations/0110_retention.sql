-- What is old is found without reading everything.
CREATE INDEX events_by_time ON events (at);
CREATE INDEX notifications_ended ON notifications (ended_at) WHERE ended_at IS NOT NULL;
