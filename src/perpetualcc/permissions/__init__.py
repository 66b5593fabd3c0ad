"""May the agent do this? Every tool call is judged, with a reason, and nothing is ever run."""
