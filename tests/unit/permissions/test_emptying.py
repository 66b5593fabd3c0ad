"""What is emptied before it is filled, and what of a history is shown."""

import pytest
from judging import bash_risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("python -m venv .venv", "LOW"),
        ("python -m venv --clear .venv", "LOW"),
        ("python3 -m venv --clear --without-pip .", "HIGH"),
        ("virtualenv --clear src", "HIGH"),
        ("uv venv --clear", "LOW"),
        ("uv venv --clear ..", "HIGH"),
        ("pytest --basetemp=/tmp/pytest", "LOW"),
        ("pytest --basetemp=src", "HIGH"),
        ("python -m pytest --basetemp .", "HIGH"),
        ("npx vite build --outDir dist --emptyOutDir", "LOW"),
        ("npx vite build --outDir .. --emptyOutDir", "HIGH"),
        ("hugo --cleanDestinationDir -d public", "LOW"),
        ("hugo --cleanDestinationDir -d src", "HIGH"),
        ("jekyll build -d content", "HIGH"),
        ("cargo clean", "LOW"),
        ("cargo clean --target-dir src", "HIGH"),
    ],
)
def test_what_people_wrote_is_not_emptied_for_a_build(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("git log --oneline -- .env", "LOW"),
        ("git log -p -- src/app.py", "LOW"),
        ("git log -p -- .env", "HIGH"),
        ("git log --patch --follow .env", "HIGH"),
        ("git log -L1,5:.env", "HIGH"),
        ("git diff HEAD~1 -- id_rsa", "HIGH"),
        ("ps aux", "LOW"),
        ("ps -ef", "LOW"),
        ("ps auxe", "MEDIUM"),
        ("ps eww", "MEDIUM"),
        ("npm init -y", "LOW"),
        ("npm create vite@latest app", "LOW"),
        ("npm init evil", "MEDIUM"),
    ],
)
def test_histories_and_processes_show_secrets_too(command: str, risk: str) -> None:
    assert bash_risk(command) == risk
