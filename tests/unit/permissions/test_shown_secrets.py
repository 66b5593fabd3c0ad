"""What prints a secret is judged by that, whichever program prints it and however it is named."""

import pytest
from judging import bash_risk, judged

from perpetualcc.domain.tools import Risk

NAMES = [
    "OPENAI_KEY", "MYSQL_PWD", "DATABASE_URL", "REDIS_URL", "MONGODB_URI", "SENTRY_DSN", "JWT",
    "AZURE_STORAGE_CONNECTION_STRING", "GPG_PASSPHRASE", "CREDS", "NPM_AUTH", "STRIPE_SK",
    "SLACK_WEBHOOK", "SLACK_WEBHOOK_URL", "COOKIE", "SESSION_COOKIE", "PG_URL", "GITHUB_TOKEN",
]  # fmt: skip
PLAIN_NAMES = [
    "PWD", "OLDPWD", "KEY", "CACHE_KEY", "S3_KEY", "SORT_KEY", "SSH_PUBLIC_KEY", "COOKIE_JAR",
    "BASE_URL", "USE_AUTH", "PASS", "SACRED", "cache_key", "WEBHOOK_PORT",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "line", ["echo ${}", 'printf %s "${{{}}}"', "declare -p {}", "echo $(typeset -xp {})"]
)
def test_a_variable_named_like_a_secret_is_not_printed_unasked(line: str, name: str) -> None:
    assert bash_risk(line.format(name)) is Risk.MEDIUM


@pytest.mark.parametrize("name", PLAIN_NAMES)
@pytest.mark.parametrize("line", ["echo ${}", "declare -p {}"])
def test_a_variable_of_another_name_is_printed(line: str, name: str) -> None:
    assert bash_risk(line.format(name)) is Risk.LOW


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("line", ['test -z "${}"', '[ -n "${}" ]', "export A=${}"])
def test_what_prints_nothing_may_look_at_a_secret(line: str, name: str) -> None:
    assert bash_risk(line.format(name)) is Risk.LOW


@pytest.mark.parametrize(
    "command",
    [
        "helm lint --values .env",
        "helm template -f .env .",
        "helm lint --set-file a=.env .",
    ],
)
def test_a_file_of_secrets_is_one_however_it_is_taken(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH
    assert bash_risk("helm lint --values values.yaml .") is Risk.LOW


@pytest.mark.parametrize(
    "command",
    [
        "awk 'BEGIN{ARGV[1]=\"/home/dev/.ssh/id_rsa\"; ARGC=2} 1'",
        "awk 'BEGIN{ARGV[ARGC++]=\".env\"} 1'",
        "awk -v f=.env 'BEGIN{ARGV[1]=f;ARGC=2}1'",
        "awk 'BEGIN{split(\"x .env\",ARGV);ARGC=3}1'",
        "jq -L ~/.docker -n 'import \"config\" as $d; $d'",
        "jq -L~/.config -n 'import \"../.docker/config\" as $d; $d'",
        'jq -n \'import "config" as $d {search:"/home/dev/.docker"}; $d\'',
        'jq -n \'import "config" as $d {"search": ["/home/dev/.docker"]}; $d\'',
        "jq -n 'import \"./service-account\" as $d; $d'",
        "detect-secrets audit .secrets.baseline",
    ],
)
def test_a_program_that_names_its_files_itself_reads_these(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH


def test_which_file_it_is_may_be_known_only_when_it_runs() -> None:
    assert bash_risk('awk \'BEGIN{ARGV[1]=".e" "nv";ARGC=2}1\'') is Risk.MEDIUM
    assert bash_risk("awk 'BEGIN{sub(/x/,\"e\",ARGV[1])}1' .xnv") is Risk.MEDIUM


@pytest.mark.parametrize(
    "command",
    [
        "awk 'NR==FNR{a[$1];next} FILENAME==ARGV[1]{print}' x y",
        "awk '{if (FILENAME == ARGV[1]) a[$1]=$2; else print}' x y",
        "awk 'BEGIN{for(i=1;i<ARGC;i++) print ARGV[i]}' x y",
        "awk 'BEGIN{for (i in ARGV) print i; delete ARGV[1]}' x",
        "jq -L lib 'import \"util\" as u; u::f' x.json",
        'jq -n \'import "data" as $d {search:"./src"}; $d\'',
        "jq '.imports' package.json",
        "detect-secrets scan",
    ],
)
def test_a_program_that_reads_what_it_is_given_is_still_low(command: str) -> None:
    assert bash_risk(command) is Risk.LOW


@pytest.mark.parametrize(
    "command",
    [
        "git ls-files -oi --exclude-standard | xargs cat",
        "git ls-files -z -oi --exclude-standard | xargs -0 head",
        "cat $(git ls-files -oi --exclude-standard)",
        "for f in $(git ls-files -oi --exclude-standard); do cat $f; done",
        "git check-ignore * .* | xargs cat",
        "git grep --no-index '' .",
    ],
)
def test_what_is_ignored_is_read_only_with_a_person(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH


@pytest.mark.parametrize(
    "command",
    [
        "rg -uuu '='", "rg -uu KEY=", "rg --no-ignore --hidden KEY", "rg -. TOKEN", "ag -u KEY",
        "grep -rE '^[A-Z_]+=' .", "grep -rh 'KEY=' .", "grep -r = .", "grep -rv foo .",
        "tar cf - . | strings", "tar cf - . | cat", "tar cf /dev/stdout .", "tar czf - . | base64",
        "diff -rN . /tmp/empty",
    ],
)  # fmt: skip
def test_all_files_with_the_hidden_ones_are_not_shown_unasked(command: str) -> None:
    assert bash_risk(command) is Risk.MEDIUM


@pytest.mark.parametrize(
    "command",
    [
        "grep -r TODO .", "grep -rn API_KEY .", "grep -r = src", "rg KEY", "rg =", "rg -uu foo",
        "rg -uu token", "rg --hidden 'def foo'", "grep -rvn '^#' src", "grep -rE '(foo|bar)+' .",
        "git grep =", "git grep --no-index TODO .",
        "git ls-files -o --exclude-standard | xargs cat",
        "tar cf - src | strings", "tar czf - . | wc -c", "diff -rq . /tmp/x", "diff -ruN src lib",
    ],
)  # fmt: skip
def test_a_plain_search_is_still_low(command: str) -> None:
    assert bash_risk(command) is Risk.LOW


def test_the_tool_that_searches_is_judged_like_the_program() -> None:
    assert judged("Grep", pattern=".", output_mode="content").risk is Risk.MEDIUM
    assert judged("Grep", pattern=".", output_mode="content", glob="*.py").risk is Risk.LOW
    assert judged("Grep", pattern=".", output_mode="content", path="src").risk is Risk.LOW
    assert judged("Grep", pattern="=").risk is Risk.LOW
    assert judged("Grep", pattern="TODO", output_mode="content").risk is Risk.LOW


@pytest.mark.parametrize(
    ("given", "risk"),
    [
        ({"glob": "*.py id_rsa"}, "HIGH"),
        ({"glob": "*.ts,secrets.yaml"}, "HIGH"),
        ({"glob": "[^a-z]env"}, "HIGH"),
        ({"glob": ".\\env"}, "HIGH"),
        ({"glob": "*nv"}, "HIGH"),
        ({"glob": "?env"}, "HIGH"),
        ({"path": " ~/.netlify", "pattern": "x"}, "HIGH"),
        ({"glob": "*", "pattern": "SECRET"}, "MEDIUM"),
        ({"glob": "**/*", "pattern": "x"}, "LOW"),
        ({"glob": "!*.md"}, "MEDIUM"),
        ({"path": ".."}, "MEDIUM"),
        ({"glob": "!*.md", "pattern": "TODO"}, "LOW"),
        ({"glob": "*.{ts,tsx}"}, "LOW"),
        ({"glob": "src/**/*.ts"}, "LOW"),
        ({"glob": "docs/**"}, "LOW"),
        ({"glob": "*config*"}, "LOW"),
        ({"glob": "*.test.*"}, "LOW"),
        ({"glob": "*.json"}, "LOW"),
    ],
)
def test_a_glob_is_what_the_tool_makes_of_it(given: dict[str, str], risk: str) -> None:
    call = {"pattern": ".", "output_mode": "content", **given}
    assert judged("Grep", **call).risk == risk


@pytest.mark.parametrize("name", ["environ", "mem", "maps"])
def test_a_process_is_the_same_by_its_thread(name: str) -> None:
    assert bash_risk(f"cat /proc/12/task/12/{name}") is Risk.HIGH


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("A=$GITHUB_TOKEN; echo $A", "MEDIUM"),
        ('A="x-${GITHUB_TOKEN}"; B=$A; printf \'%s\' "$B"', "MEDIUM"),
        ("export A=$AWS_SECRET_ACCESS_KEY; echo ${A:0:4}", "MEDIUM"),
        ("A=(${GITHUB_TOKEN}); echo ${A[0]}", "MEDIUM"),
        ("for A in $GITHUB_TOKEN; do echo $A; done", "MEDIUM"),
        ("A=$GITHUB_TOKEN; cat <<< $A", "MEDIUM"),
        ("cat <<< $GITHUB_TOKEN", "MEDIUM"),
        ("f() { echo $1; }; f $GITHUB_TOKEN", "MEDIUM"),
        ('A=$GITHUB_TOKEN; [ -n "$A" ] && echo set', "LOW"),
        ("A=$GITHUB_TOKEN; echo ${A:+set}", "LOW"),
        ("echo ${GITHUB_TOKEN:+set}", "LOW"),
        ("echo ${#GITHUB_TOKEN}", "LOW"),
        ("A=$USER; echo $A", "LOW"),
        ("cat <<< $USER", "LOW"),
        ("A=$GITHUB_TOKEN; declare -p A", "MEDIUM"),
        ("export A=$GITHUB_TOKEN; printenv A", "MEDIUM"),
        ("A=$GITHUB_TOKEN; n=A; echo ${!n}", "MEDIUM"),
        (": ${A:=$GITHUB_TOKEN}; echo $A", "MEDIUM"),
        ('jq -n --arg a "$GITHUB_TOKEN" "\\$a"', "MEDIUM"),
        ('A=$GITHUB_TOKEN; awk -v a="$A" "BEGIN { print a }"', "MEDIUM"),
        ('jq -n --arg a "$USER" "\\$a"', "LOW"),
    ],
)
def test_a_secret_in_another_variable_is_as_secret(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("gitleaks detect -v", "MEDIUM"),
        ("gitleaks git --verbose .", "MEDIUM"),
        ("gitleaks detect -f json -r -", "MEDIUM"),
        ("gitleaks detect --report-path=/dev/stdout", "MEDIUM"),
        ("gitleaks detect -v --redact=0", "MEDIUM"),
        ("gitleaks detect -v --redact", "LOW"),
        ("gitleaks detect -v --redact=100", "LOW"),
        ("gitleaks detect --no-banner", "LOW"),
        ("trufflehog filesystem . --json", "MEDIUM"),
        ("dotenvx run -- env", "HIGH"),
        ("dotenvx run -- npm test", "LOW"),
        ("doppler run -- printenv", "HIGH"),
        ("doppler run -- npm test", "MEDIUM"),
        ("op run -- env", "HIGH"),
        ("glab variable get DEPLOY_KEY", "HIGH"),
        ("glab api projects/1/variables", "HIGH"),
        ("glab api projects/1", "LOW"),
        ("keepassxc-cli show a.kdbx site", "HIGH"),
        ("bws secret list", "HIGH"),
        ("restic cat masterkey", "HIGH"),
        ("yt-dlp --cookies-from-browser chrome https://youtube.com/watch?v=x", "HIGH"),
        ("aws iam list-access-keys", "MEDIUM"),
        ("aws iam create-access-key", "HIGH"),
    ],
)
def test_what_finds_or_hands_on_secrets_may_print_them(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize("line", ['echo "{} $GITHUB_TOKEN"', 'A=$GITHUB_TOKEN; echo "{} $A"'])
def test_a_long_line_hides_no_secret(line: str) -> None:
    assert bash_risk(line.format("x " * 400)) is Risk.MEDIUM
