"""Where text is only data, and where the same text runs or leaves."""

import time

import pytest
from judging import bash_risk, judged

from perpetualcc.domain.tools import Risk

TOKEN = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("node -e \"console.log('DROP TABLE a')\"", "node -e \"db.run('DROP TABLE a')\""),
        ("php -r 'echo \"rm -rf /\";'", "php -r 'echo `rm -rf /`;'"),
        ("python3 -c \"print('os.remove')\"", "python3 -c \"import os; os.remove('a')\""),
        ("ruby -e 'puts \"sudo exec x\"'", "ruby -e 'puts \"#{exec %(rm a)}\"'"),
        ("php -r '$f=\"system\"; echo $f;'", 'php -r \'$f="system"; $f("id");\''),
        ("php -r 'echo \"system\";'", 'php -r \'"system"("id");\''),
        ("node -e 'const s=\"DROP TABLE a\"; console.log(s)'", "node -e 'q(\"DROP TABLE a\")'"),
        ("mongosh --eval 'db.a.find({op: \"drop\"})'", "mongosh --eval 'db[\"dropDatabase\"]()'"),
        (
            'mongosh --eval \'db.a.find({"$gt": "drop"})\'',
            'mongosh --eval \'db.a.find({"$gt": 1}); db.dropDatabase(); print("a")\'',
        ),
        ("git -c user.name=x log", "git -c core.pager=x log"),
        ("gcloud projects delete --help", "gcloud projects delete x"),
        ("alembic upgrade head --sql", "alembic upgrade head"),
        ("redis-cli --scan --pattern 'del:*'", "redis-cli del a"),
        ("git-log --oneline", "git-push --force"),
        ("${TOOL:-ls} -l", 'command "${TOOL:-rm}" -l'),
        ("psql -c 'EXPLAIN DELETE FROM a'", "psql -c 'EXPLAIN ANALYZE DELETE FROM a'"),
        ("psql -c 'EXPLAIN DELETE FROM a'", "psql -c 'EXPLAIN (verbose, analyze) DELETE FROM a'"),
        ("psql -c 'EXPLAIN DELETE FROM a'", "psql -c 'EXPLAIN SELECT 1; DELETE FROM a'"),
        ("parallel --dry-run rm ::: a", "parallel rm ::: a"),
        ("rsync -n a host:b", "rsync a host:b"),
        ("docker system prune --help", "docker system prune"),
        ("aws s3 rm help", "aws s3 rm s3://a/help"),
        ("npm run build:drop-console", "npm run build:deploy"),
        ("pulumi destroy --preview-only", "pulumi destroy"),
    ],
)
def test_what_only_shows_is_not_high_and_what_runs_is(data: str, code: str) -> None:
    assert bash_risk(data) is not Risk.HIGH
    assert bash_risk(code) is Risk.HIGH


@pytest.mark.parametrize(
    "command",
    [
        'docker run --rm -v "$PWD:/work" alpine rm -rf /work/src',
        "docker run --rm -v .:/work alpine sh -c 'chown -R 1:1 /work'",
        "script -q /dev/null rm -rf src",
        "script log -c 'rm -rf src'",
        "mv src/a.py /dev/null",
        ": > app.sqlite3",
    ],
)
def test_harm_in_another_wrapping_is_high(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH


@pytest.mark.parametrize("command", [": > src/a.py", "> src/a.py", "cp /dev/null src/a.py"])
def test_emptying_a_file_is_never_low(command: str) -> None:
    assert bash_risk(command) is not Risk.LOW


@pytest.mark.parametrize("command", ["> src/__init__.py", ": > /dev/null", "echo a > src/a.py"])
def test_what_empties_nothing_is_low(command: str) -> None:
    assert bash_risk(command) is Risk.LOW


@pytest.mark.parametrize(
    ("tool", "field", "text"),
    [
        ("WebSearch", "query", f"why is {TOKEN} refused"),
        ("WebFetch", "url", f"https://a.example/?q={TOKEN}"),
        ("mcp__docs__lookup", "text", f"my token {TOKEN}"),
    ],
)
def test_a_token_never_leaves_without_a_person(tool: str, field: str, text: str) -> None:
    rest = {"prompt": "read"} if tool == "WebFetch" else {}
    harmless = text.replace(TOKEN, "ghp_ and sk-fading-circle-container")

    assert judged(tool, **{field: text}, **rest).risk is Risk.HIGH
    assert judged(tool, **{field: harmless}, **rest).risk is not Risk.HIGH


def test_a_malformed_call_is_still_judged_by_what_it_names() -> None:
    assert judged("Grep", pattern="", path="/home/dev/.ssh/id_rsa").risk is Risk.HIGH


@pytest.mark.parametrize(
    "command",
    [
        """mongosh --eval "db.a.find({b: /don't/}); db.dropDatabase()" """,
        """mongosh --eval "/'/; db.dropDatabase(); /'/" """,
        """node -e '/"/;process.kill(1);/"/'""",
        """perl -e '$";system(q(id));$"'""",
        """ruby -e '?";system(%q(id));?"'""",
        """lua -e '[["]] os.execute(1) [["]]'""",
        """tclsh <<< 'puts {"}; file delete a; puts {"}'""",
        """tclsh <<< 'puts "[file delete a]"'""",
    ],
)
def test_a_quote_that_begins_no_text_hides_no_code(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH


@pytest.mark.parametrize(
    "command",
    [
        'psql -c "' + "'\\\\" * 30_000 + '"',
        "psql -c '" + "; explain (" * 8_000 + "'",
        "mongosh --eval '" + '"\\' * 40_000 + "'",
        "node -e '" + '"\\' * 40_000 + "'",
        "node -e '" + "a = " * 25_000 + "'",
    ],
)
def test_quotes_that_never_close_are_read_in_a_moment(command: str) -> None:
    began = time.process_time()
    bash_risk(command)

    assert time.process_time() - began < 1.0
