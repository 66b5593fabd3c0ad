"""What serves until somebody ends it, and what only looks like it."""

import pytest

from perpetualcc.agent.servers import is_server


@pytest.mark.parametrize(
    "command",
    [
        "npm run dev",
        "cd web && pnpm --filter app dev -- --port 3000",
        "yarn start",
        "npm run api:serve",
        "python3 -m http.server 8000 > /tmp/log 2>&1 &",
        "python manage.py runserver 0.0.0.0:8000",
        "PORT=1 npx vite --host | tee vite.log",
        "docker compose -f dev.yml up",
        "tail -n 5 -f log/test.log",
        "npx tsc --watch",
        "bundle exec rails s",
        "uv run uvicorn app:app --reload",
        "node server.js",
        "go run ./cmd/server",
        "kubectl port-forward svc/db 5432",
        "nohup ./bin/api-server --port 1",
    ],
)
def test_it_serves(command: str) -> None:
    assert is_server(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "&",
        "npm test",
        "npm run build:server",
        "npm run start:db && npm test",
        "npx vite build",
        "pytest tests/test_server.py -k 'air or",
        "go test ./server/... && cat dev.log",
        "sleep 60; gh run view 5",
        "gh run watch 5",
        "docker compose up -d",
        "make deploy-preview-image",
        "cargo test server",
        "grep -rn server src",
        "python train.py --epochs 3",
        "npx vitest run --watch=false",
        "npx playwright test preview",
    ],
)
def test_it_ends_by_itself(command: str) -> None:
    assert not is_server(command)
