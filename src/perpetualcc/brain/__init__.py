"""Who has an opinion? Brains answer Claude's questions and advise on its tool calls."""
