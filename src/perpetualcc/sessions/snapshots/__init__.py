"""The work in a project's directory as it was: taken before a task, compared with, put back."""
