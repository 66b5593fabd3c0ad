-- Which model made an episode's vector: those of two models say nothing to each other.
ALTER TABLE episodes ADD COLUMN embedding_model TEXT NOT NULL DEFAULT '';
