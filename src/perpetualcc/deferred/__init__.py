"""Later: from the words in which people say when, to the time at which a task may begin."""
