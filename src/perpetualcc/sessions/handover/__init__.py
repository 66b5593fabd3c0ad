"""Before a context is full the work moves to a fresh run, and takes with it what it needs."""
