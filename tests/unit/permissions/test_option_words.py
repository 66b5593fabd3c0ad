"""What no table knows is judged by what it is called: options, subcommands and variables."""

import pytest
from judging import bash_risk

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.knowledge import Entry, knowledge

READS_WORDS_ITSELF = {"text", "pattern-read"}
NEVER_READ_SO = {"find", "fd", "eval", "trap", "shell-variables"}


def low_commands() -> list[str]:
    """Every command line of the tables that is LOW on its own."""
    found: list[str] = []

    def walk(entry: Entry, path: list[str]) -> None:
        for word, child in entry.children.items():
            walk(child, [*path, word])
        rule = entry.rule
        if rule is None or rule.operands in READS_WORDS_ITSELF or rule.stops or rule.wraps:
            return
        is_plain = all(word[0].isalnum() for word in path)
        if rule.risk is Risk.LOW and rule.handler not in NEVER_READ_SO and is_plain:
            found.append(" ".join(path))

    walk(knowledge().root, [])
    return [line for line in found if bash_risk(line) is Risk.LOW]


def test_no_known_program_stays_low_with_an_unknown_option_that_says_harm() -> None:
    lines = low_commands()[::7]

    wrong = [
        f"{line} {option}"
        for line in lines
        for option in ("--zz-exec=x", "--yes-i-really-mean-it", "--zz-show-secrets")
        if bash_risk(f"{line} {option}") is Risk.LOW
    ]

    assert len(lines) > 300
    assert not wrong


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("frobctl --purge x", "HIGH"),
        ("frobctl sync --delete-all", "HIGH"),
        ("frobctl --no-delete x", "MEDIUM"),
        ("frobctl sync --dry-run --delete", "MEDIUM"),
        ("frobctl migrate --accept-data-loss", "HIGH"),
        ("frobctl --on-change 'git push --force'", "HIGH"),
        ("frobctl --post-hook='make test'", "MEDIUM"),
        ("frobctl get --show-secrets", "HIGH"),
        ("frobctl --list-deleted", "MEDIUM"),
        ("pylint --zz-uninstall", "HIGH"),
        ("pylint --zz-inplace src", "LOW"),
        ("pylint --no-force src", "LOW"),
        ("black --color src", "LOW"),
        ("esbuild src/a.ts --drop-console", "LOW"),
        ("grep --zz-delete x src", "MEDIUM"),
        ("echo --exec --delete", "LOW"),
        ("node scripts/seed.js --wipe", "HIGH"),
        ("python scripts/db.py --drop-all", "HIGH"),
        ("bash scripts/seed.sh --purge", "HIGH"),
        ("./scripts/seed.sh --purge", "HIGH"),
        ("cargo run -- --purge", "HIGH"),
        ("dotnet run --project src/Cli -- --wipe", "HIGH"),
        ("npm run seed -- --wipe", "HIGH"),
        ("node scripts/seed.js --wipe --dry-run", "MEDIUM"),
        ("node scripts/build.js --no-purge", "LOW"),
        ("cargo test -- --nocapture", "LOW"),
        ("python manage.py check --deploy", "LOW"),
    ],
)
def test_an_option_is_judged_by_what_it_is_called(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("hostnamectl", "LOW"),
        ("hostnamectl status", "LOW"),
        ("hostnamectl frobnicate", "MEDIUM"),
        ("hostnamectl set-hostname x", "HIGH"),
        ("frobctl removenode 3", "HIGH"),
        ("frobctl list removed", "MEDIUM"),
        ("frobctl show delete-policy", "MEDIUM"),
        ("cmake build", "LOW"),
        ("curl -X POST https://db.example.com/orders/_delete_by_query -d '{}'", "HIGH"),
        ("curl -X POST https://db.example.com/orders/_search -d '{}'", "MEDIUM"),
    ],
)
def test_a_subcommand_that_no_table_has_is_never_low(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("ZZ_PAGER='sh -c id' git log", "HIGH"),
        ("ZZ_PAGER=cat git log", "LOW"),
        ("ZZ_STARTUP_HOOK=x.so make test", "HIGH"),
        ("ZZ_COMMAND=./x make test", "MEDIUM"),
        ("ZZ_COLOR=always make test", "LOW"),
    ],
)
def test_a_variable_is_judged_by_what_it_is_called(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("cmake -B build -DCMAKE_TOOLCHAIN_FILE=/tmp/tc.cmake", "MEDIUM"),
        ("cmake -B build -DCMAKE_TOOLCHAIN_FILE=cmake/arm.cmake", "LOW"),
        ("cmake -B build -DCMAKE_PREFIX_PATH=/opt/qt6", "LOW"),
        ("bazel --bazelrc=/tmp/rc build //...", "MEDIUM"),
        ("gradle -Dorg.gradle.jvmargs='-agentpath:/tmp/a.so' build", "MEDIUM"),
        ("pytest --junitxml=/tmp/result.xml", "LOW"),
        ("npm run build --node-options=--max-old-space-size=4096", "LOW"),
    ],
)
def test_a_path_outside_the_project_in_any_option_of_a_build_is_code(
    command: str, risk: str
) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("npm config get registry", "LOW"),
        ("npm config get //registry.example.com/:_authToken", "HIGH"),
        ("git config http.extraheader", "HIGH"),
        ("git config --get credential.helper", "LOW"),
        ("curl https://api.example.com/?key=$API_KEY", "HIGH"),
        ('curl -H "Authorization: Bearer $TOKEN" https://api.example.com/me', "MEDIUM"),
        ('curl -X POST -H "Authorization: Bearer $TOKEN" https://api.example.com/pay', "HIGH"),
        ('curl -X POST -H "Authorization: Bearer $TOKEN" localhost:3000/pay', "MEDIUM"),
        ("uv run --with rich python app.py", "LOW"),
        ("uv run --with git+https://example.com/a/b python app.py", "HIGH"),
        ("./mvnw flyway:clean", "HIGH"),
        ("./mvnw clean", "LOW"),
        ("fastlane ios release", "HIGH"),
        ("fastlane ios test", "LOW"),
    ],
)
def test_secrets_foreign_packages_and_goals_of_migration_tools(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("latexmk -pdf -interaction=nonstopmode -outdir=build paper/main.tex", "LOW"),
        ("latexmk -outdir=/opt/x a.tex", "HIGH"),
        ("latexmk -r x.rc a.tex", "HIGH"),
        ("git bisect reset", "MEDIUM"),
    ],
)
def test_long_options_with_one_dash_are_no_bundles_and_reset_is_not_always_harm(command, risk):
    assert bash_risk(command) is Risk[risk]


@pytest.mark.parametrize(
    "looking",
    ["kubectl get pods", "kubectl describe pod x", "docker ps", "git status", "helm list",
     "gh pr list", "brew ls", "conda list", "systemctl status x", "hostnamectl status",
     "mamba search x", "npm ls"],
)  # fmt: skip
@pytest.mark.parametrize("option", ["--purge", "--wipe", "--destroy=all", "--accept-data-loss"])
def test_what_only_looks_takes_no_option_that_destroys(looking: str, option: str) -> None:
    assert bash_risk(looking) is not Risk.HIGH
    assert bash_risk(f"{looking} {option}") is Risk.HIGH


@pytest.mark.parametrize("command", ["terraform plan -destroy", "manage.py check --deploy"])
def test_what_says_what_would_be_done_may(command: str) -> None:
    assert bash_risk(command) is not Risk.HIGH
