"""The dashboard: one page and one WebSocket on loopback, between a browser and the engine."""
