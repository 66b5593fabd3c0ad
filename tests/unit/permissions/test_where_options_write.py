"""
Options, operands and variables of builds and checks that write where Git runs it, empty what people
wrote, or run another program; and everyday lines that are like them.
"""

import pytest
from judging import bash_risk

from perpetualcc.domain.tools import Risk

INTO_GIT = [
    "docker build --iidfile .git/config .",
    "docker build --metadata-file=.git/config .",
    "helm package . -d .git",
    "syft . --file .git/config",
    "npx copyfiles -f build/pre-commit .git/hooks",
    "npx ncp build .git",
    "jsdoc -d .git src",
    "typedoc --json .git/config",
    "npx sass src/a.scss .git/config",
    "npx playwright screenshot http://localhost:3000 .git/config",
    "pytest -o log_file=.git/config",
    "pytest --debug=.git/hooks/pre-commit",
    "pytest --cov-report xml:.git/config",
    "mypy --html-report .git .",
    "pylint --output-format=json:.git/config src",
    "mocha -R json -O output=.git/config",
    "eslint --cache --cache-location .git/config .",
    "bazel run --script_path=.git/hooks/pre-commit //x",
    "TF_DATA_DIR=.git terraform init",
    "TF_LOG=TRACE TF_LOG_PATH=.git/config terraform validate",
    "LLVM_PROFILE_FILE=.git/config cargo test",
    "NODE_V8_COVERAGE=.git npm test",
    "JEST_JUNIT_OUTPUT_FILE=.git/config jest",
    "SSLKEYLOGFILE=.git/config curl https://localhost",
]
BESIDE_GIT = [
    "pytest --ignore=.git",
    "ruff check --extend-exclude=.git,.venv .",
    "flake8 --exclude .git,__pycache__",
    "bandit -r . -x .git,tests",
    "codespell --skip .git,./node_modules",
    "npx commitlint --edit .git/COMMIT_EDITMSG",
    "npx commitlint -e .git/COMMIT_EDITMSG",
    "shellcheck .git/hooks/pre-commit",
    "docker build --build-arg GIT=.git .",
    "go test -run .git",
    "npx nodemon --watch src --ignore .git/ src/index.js",
    "trivy fs --skip-dirs .git .",
    "cat .git/config",
]


@pytest.mark.parametrize("command", INTO_GIT)
def test_what_a_build_is_told_to_write_where_git_runs_it_is_for_a_person(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH


@pytest.mark.parametrize("command", BESIDE_GIT)
def test_what_leaves_it_out_or_looks_at_it_is_still_low(command: str) -> None:
    assert bash_risk(command) is Risk.LOW


NO_PERSON = [
    "bazel clean --expunge",
    "python manage.py dumpdata app.Model",
    "sqlite3 :memory: 'create table t(a); insert into t values(1); select * from t'",
    "redis-cli client list",
    "redis-cli config get maxmemory",
    "redis-cli acl whoami",
    "node seed.js --wipe=false",
    "git rm -r --cached node_modules",
    "git rm -rf --cached dist",
    "poetry env remove python3.11",
]
EVERYDAY = [
    "bazel clean",
    "kubectl get secret -o name",
    "./gradlew :deploy:test",
    "./gradlew :publish-api:build",
    "nx test deploy",
    "nx build deploy",
    "mvn deploy:help",
    "nuke Compile",
    "git push origin :refs/x --dry-run",
]
STILL_HIGH = [
    "kubectl get secret -o yaml",
    "./gradlew :api:deploy",
    "./gradlew :test:publish",
    "mvn deploy:deploy",
    "nuke Deploy",
    "nx deploy shop",
    "node seed.js --wipe",
    "node seed.js --wipe=true",
    "git rm -r src",
    "git push origin :refs/x",
    "git push -n --no-dry-run origin :refs/x",
    "redis-cli config get requirepass",
    "redis-cli config get '*'",
    "redis-cli config set dir /etc",
    "redis-cli client kill 1",
    "sqlite3 :memory: \"attach 'app.db' as a; delete from a.t\"",
    "python manage.py dumpdata -o .env",
    "bazel run //k8s:x.apply",
    "bazel build --credential_helper=rm //x",
]


@pytest.mark.parametrize("command", NO_PERSON)
def test_what_can_be_made_again_or_only_asks_needs_no_person(command: str) -> None:
    assert bash_risk(command) is Risk.MEDIUM


@pytest.mark.parametrize("command", EVERYDAY)
def test_the_name_of_a_thing_is_no_verb(command: str) -> None:
    assert bash_risk(command) is Risk.LOW


@pytest.mark.parametrize("command", STILL_HIGH)
def test_what_is_like_it_and_does_more_is_for_a_person(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ('dotnet build -l:"console;LogFileName=../../x"', "HIGH"),
        ("dotnet build -fl -flp:logfile=../../x", "HIGH"),
        ("dotnet build -bl:../../x.binlog", "HIGH"),
        ('dotnet test -l "trx;LogFileName=/etc/x.trx"', "HIGH"),
        ('dotnet test --logger "trx;LogFileName=results.trx"', "LOW"),
        ("dotnet build -bl:artifacts/build.binlog", "LOW"),
        ("dotnet build -v:m", "LOW"),
    ],
)
def test_a_logger_of_dotnet_writes(command: str, risk: str) -> None:
    assert bash_risk(command) == risk
