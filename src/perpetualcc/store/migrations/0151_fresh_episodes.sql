-- New episodes wait here until some of them enter the index together. One by one, each would be a
-- segment of its own, and merging segments would fall on whoever records next; so it is done in
-- small steps beside the work, and never by itself.
CREATE TABLE episodes_fresh (id INTEGER PRIMARY KEY, terms TEXT NOT NULL) STRICT;
INSERT INTO episode_terms (episode_terms, rank) VALUES ('automerge', 0);
