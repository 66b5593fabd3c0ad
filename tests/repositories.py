"""The real git, for tests that need a repository."""

import os
import subprocess
from pathlib import Path


def git(place: Path, *words: str, at: str = "") -> str:
    """What it prints. `at`: when a commit is made, instead of now."""
    command = ("git", "-C", str(place), "-c", "user.name=n", "-c", "user.email=n@example.com")
    told = {**os.environ, "GIT_COMMITTER_DATE": at} if at else None
    done = subprocess.run([*command, *words], check=True, capture_output=True, text=True, env=told)
    return done.stdout
