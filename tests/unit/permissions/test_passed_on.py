"""What the project's own programs are told, and options that only seem to be dry runs."""

import pytest
from judging import bash_risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("npm run cli -- delete-all", "HIGH"),
        ("npm run cli -- list", "LOW"),
        ("npm run cli -- delete --help", "LOW"),
        ("npm start -- drop-db", "HIGH"),
        ("go run . remove x", "HIGH"),
        ("pnpm cli destroy", "HIGH"),
        ("cargo run -- delete --all --prod", "HIGH"),
        ("cargo run -- serve --port 80", "LOW"),
        ("go run ./cmd/admin delete-tenant acme", "HIGH"),
        ("dotnet run --project src/Admin -- drop-database", "HIGH"),
        ("poetry run shop users delete --all", "HIGH"),
        ("ruby bin/cli.rb destroy prod", "HIGH"),
        ("ruby bin/cli.rb list", "LOW"),
        ("python -m app.cli delete-all", "HIGH"),
        ("java -jar target/app.jar delete --all", "HIGH"),
        ("task cli -- delete --all", "HIGH"),
        ("make run ARGS='delete --all'", "HIGH"),
        ("make exec cmd='rm -rf x'", "HIGH"),
        ("make run ARGS='--port 3000'", "LOW"),
        ("./gradlew run --args='--wipe'", "HIGH"),
        ("mvn exec:java -Dexec.args='delete --all'", "HIGH"),
    ],
)
def test_the_words_given_to_an_own_program_are_judged_as_an_unknown_programs(
    command: str, risk: str
) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    "command",
    [
        "npm test -- removes-user",
        "npm run test -- -t delete",
        "npm run jest -- -t delete",
        "npm run generate -- component DropDown",
        "make test ARGS='-k delete'",
        "nox -s tests -- -k delete",
        "poetry run pytest -k delete",
        "./gradlew test --tests DeleteUserTest",
    ],
)
def test_names_of_tests_and_of_what_is_made_are_no_verbs(command: str) -> None:
    assert bash_risk(command) == "LOW"


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("npm run knex -- migrate:rollback --all", "HIGH"),
        ("npm run prisma migrate reset", "HIGH"),
        ("npm run cdk -- deploy --all", "HIGH"),
        ("composer run artisan -- migrate:fresh", "HIGH"),
        ("make manage ARGS='flush --noinput'", "HIGH"),
        ("npm run gh-pages", "HIGH"),
        ("npm run write", "LOW"),
        ("npm run eslint -- --fix src", "LOW"),
        ("npm run build -- --mode production", "LOW"),
    ],
)
def test_a_script_that_is_called_like_a_known_tool_is_that_tool(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    "command",
    [
        "npm run deploy --dry-run",
        "npm --dry-run run db:wipe",
        "npm start --dry-run -- drop-db",
        "mise run deploy --dry-run",
        "make -p deploy",
        "git push --force --dry-run --no-dry-run origin main",
        "git clean -fdx -n --no-dry-run",
        "cargo publish --dry-run --no-dry-run",
        "heroku run ./wipe.sh --dry-run",
        "kamal app exec 'rm -rf /x' --dry-run",
    ],
)
def test_a_dry_run_counts_only_where_it_is_one(command: str) -> None:
    assert bash_risk(command) == "HIGH"


@pytest.mark.parametrize(
    "command", ["make -n deploy", "npm publish --dry-run", "git push --force --dry-run origin main"]
)
def test_a_dry_run_that_is_one_is_not_high(command: str) -> None:
    assert bash_risk(command) != "HIGH"


@pytest.mark.parametrize(
    "command",
    [
        "mise run lint ::: deploy",
        "tox -e lint,publish",
        "nox -s publish",
        "clj -X:deploy",
        "gleam run -m deploy",
        "cargo run --bin deploy",
        "go run ./cmd/deploy -env prod",
        "zig build test publish",
        "dart run tool/deploy.dart",
        "./gradlew :api:jib",
        "mvn compile jib:build",
        "make tf-apply",
        "make apply",
        "npm run clear-db",
    ],
)
def test_names_of_tasks_are_read_wherever_a_runner_is_given_them(command: str) -> None:
    assert bash_risk(command) == "HIGH"


@pytest.mark.parametrize(
    "command",
    [
        "tox -e lint,py312",
        "mise run lint ::: test",
        "go run ./cmd/server",
        "zig build test",
        "mvn jib:dockerBuild",
        "./gradlew jibDockerBuild",
        "npm run apply-format",
        "npm run scale-images",
    ],
)
def test_everyday_tasks_of_the_same_runners_are_low(command: str) -> None:
    assert bash_risk(command) == "LOW"


@pytest.mark.parametrize(
    "command",
    [
        "emmake rm -rf x",
        "libtool --tag=CC --mode=execute rm -rf x",
        "ocamlc -pp 'rm -rf x' a.ml",
        "infer run -- rm -rf x",
        "jupytext --pipe 'rm -rf x' a.ipynb",
        "tox exec -e py312 -- rm -rf x",
        "prove -e 'rm -rf x' t/",
        "ts rm -rf x",
        "nyc --silent rm -rf x",
        "cargo watch -x 'run -- delete --all'",
        "bazel test --run_under='rm -rf x' //...",
        "direnv exec . rm -rf x",
        "mise exec node@22 -- rm -rf x",
        "nix shell nixpkgs#git -c rm -rf x",
        "bwrap --bind / / rm -rf x",
        "distrobox enter dev -- rm -rf x",
        "tmux if-shell 'rm -rf x' ''",
        'gawk \'BEGIN{f="system"; @f("rm")}\'',
        "CIBW_BEFORE_ALL='rm -rf x' cibuildwheel",
    ],
)
def test_a_command_that_another_program_is_given_is_judged(command: str) -> None:
    assert bash_risk(command) == "HIGH"
