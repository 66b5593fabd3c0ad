"""The only home of the Claude SDK. Importing this package imports none of it."""
