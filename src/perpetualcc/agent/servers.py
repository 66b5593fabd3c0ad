"""
Commands that serve, follow or watch until somebody ends them, told by their words.

Only for what a turn need not wait for: a server that is not known costs its patience, a command
that is taken for one is ended with the run.
"""

import posixpath
import re
import shlex

_RUNNER_NAMES = """
    npm pnpm yarn bun npx bunx deno make just task rake composer poetry uv pipenv hatch pdm
    bundle turbo nx lerna foreman overmind
"""
_SERVER_NAMES = """
    uvicorn gunicorn hypercorn daphne puma unicorn nodemon nginx caddy mongod redis-server
    http-server live-server json-server webpack-dev-server start-storybook storybook ngrok
    cloudflared jupyter jupyter-lab tensorboard streamlit watchexec entr air serve vite
    foreman overmind
"""
_RUNNERS = frozenset(_RUNNER_NAMES.split())
_PASSED_OVER = frozenset(("run", "run-script", "exec", "task", "dlx", "x"))
_SCRIPTS = frozenset(("dev", "develop", "start", "serve", "server", "watch", "preview"))
"""Names of a project's scripts: `dev`, `dev:web`, `api:serve`."""
_ALWAYS = frozenset(_SERVER_NAMES.split())
_NOT_WITH = frozenset(("build", "optimize", "test", "version", "--version", "--help", "export"))
_WITH = {
    "flask": {"run"},
    "fastapi": {"dev", "run"},
    "rails": {"s", "server"},
    "php": {"-S", "serve"},
    "symfony": {"serve", "server:start"},
    "next": {"dev", "start"},
    "nuxt": {"dev", "start", "preview"},
    "astro": {"dev", "preview"},
    "remix": {"dev"},
    "gatsby": {"develop", "serve"},
    "ng": {"serve"},
    "webpack": {"serve"},
    "hugo": {"server", "serve"},
    "jekyll": {"serve", "s"},
    "mkdocs": {"serve"},
    "kubectl": {"port-forward"},
    "celery": {"worker", "beat"},
    "wrangler": {"dev"},
    "supabase": {"functions serve"},
    "tail": {"-f", "-F", "--follow"},
}
"""Programs that serve with one of these words."""
_INTERPRETERS = frozenset(("node", "python", "python3", "ruby", "deno", "bun", "tsx", "go", "php"))
_SERVES = re.compile(r"(?:[\w.-]*[_-])?server(?:\.\w+)?")
"""A program, or a file of code, that calls itself a server."""
_DETACHED = frozenset(("-d", "--detach", "-D", "--daemon", "--once"))


def is_server(command: str) -> bool:
    """Whether the last of the commands, the one that goes on, is a server or a watcher."""
    last = re.split(r"&&|\|\||[;\n]", command.strip().rstrip("&;\n "))[-1]
    words = _words(last.partition("|")[0])
    while words and ("=" in words[0] or words[0] in {"env", "exec", "nohup", "sudo", "time"}):
        words = words[1:]
    return bool(words) and not _DETACHED.intersection(words) and _serves(words)


def _serves(words: list[str]) -> bool:
    name, rest = posixpath.basename(words[0]), words[1:]
    if any(word.startswith("--watch") and not word.endswith(("=false", "=no")) for word in rest):
        return True
    if name in _RUNNERS:
        called = [word for word in rest if not word.startswith("-") and word not in _PASSED_OVER]
        return any(_is_script(word) for word in called[:2]) or (
            bool(called) and called[0] != name and _serves(rest[rest.index(called[0]) :])
        )
    if name in {"docker", "docker-compose", "podman"}:
        return "up" in rest
    if name in _INTERPRETERS and {"http.server", "runserver", "serve"}.intersection(rest):
        return True
    if name == "tail" and any(re.fullmatch(r"-\w*[fF]", word) for word in rest):
        return True
    if name in _ALWAYS:
        return not _NOT_WITH.intersection(rest)
    if _WITH.get(name, frozenset()) & set(rest):
        return True
    code = next((word for word in rest if not word.startswith("-") and word != "run"), "")
    served = posixpath.basename(code if name in _INTERPRETERS else words[0])
    return _SERVES.fullmatch(served) is not None


def _is_script(word: str) -> bool:
    parts = word.split(":")  # `build:server` builds one
    return parts[0] in _SCRIPTS or parts[-1] in _SCRIPTS - {"server"}


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an open quote
        return text.split()
