-- Written, or not even that, and read by nothing: a process is known by the mark that it carries.
ALTER TABLE runs DROP COLUMN process_start;
ALTER TABLE handovers DROP COLUMN begun_at;
