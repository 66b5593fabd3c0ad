"""The only home of SQL: one SQLite file, one thread that owns it, one module per table family."""
