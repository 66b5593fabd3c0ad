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
        ("CARGO_TARGET_DIR=src cargo clean", "HIGH"),
        ("CARGO_BUILD_TARGET_DIR=. cargo clean", "HIGH"),
        ("export CARGO_TARGET_DIR=src; cargo clean", "HIGH"),
        ("CARGO_TARGET_DIR=target/ci cargo clean", "LOW"),
        ("cargo vendor src", "HIGH"),
        ("cargo vendor .", "HIGH"),
        ("cargo vendor", "LOW"),
        ("cargo vendor third_party/rust", "LOW"),
        ("cargo vendor --no-delete src", "LOW"),
        ("npx vite build --outDir src", "HIGH"),
        ("npx vite build --outDir dist/client", "LOW"),
        ("cd web && npx vite build --outDir ../server/assets", "LOW"),
        ("cd web && npx vite build --outDir ../server/assets --emptyOutDir", "HIGH"),
        ("npx vitepress build --outDir src", "HIGH"),
        ("npx rsbuild build --dist-path src", "HIGH"),
        ("npx astro build --outDir .", "HIGH"),
        ("npx storybook build -o src", "HIGH"),
        ("npx storybook build --output-dir storybook-static", "LOW"),
        ("npx docusaurus build --out-dir src", "HIGH"),
        ("npx vitest run --coverage --coverage.reportsDirectory=src", "HIGH"),
        ("npx vitest run --coverage --coverage.reportsDirectory=coverage/unit", "LOW"),
        ("npx playwright test --output=tests", "HIGH"),
        ("npx playwright test --output=test-results/smoke", "LOW"),
        ("npx typedoc --out src", "HIGH"),
        ("npx typedoc --out docs/api src/index.ts", "LOW"),
        ("npx tsdown -d src", "HIGH"),
        ("npx tsdown -d src --no-clean", "LOW"),
        ("npx tsup a.ts -d src --clean", "HIGH"),
        ("npx tsup a.ts -d lib --clean", "LOW"),
        ("npx expo export --output-dir src", "HIGH"),
        ("mdbook build -d src", "HIGH"),
        ("mdbook build -d book", "LOW"),
        ("trunk build --dist src", "HIGH"),
        ("zola build -o src --force", "HIGH"),
        ("pelican content -o . -d", "HIGH"),
        ("pelican content -o output", "LOW"),
        ("poetry build --clean -o src", "HIGH"),
        ("uv build --clear -o src", "HIGH"),
        ("uv build --clear -o dist", "LOW"),
        ("swift package clean --scratch-path src", "HIGH"),
        ("coverage erase --data-file=src/app.py", "HIGH"),
        ("COVERAGE_FILE=src/app.py coverage erase", "HIGH"),
        ("coverage erase --data-file=.coverage.unit", "LOW"),
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
