"""The only home of SQL."""
