"""One protocol for every client: the frames, a server for the engine, a client for the rest."""
