"""Two lines that look alike, of which one does what the other does not."""

import pytest
from judging import bash_risk, judged

from perpetualcc.domain.tools import Risk


@pytest.mark.parametrize(
    ("ordinary", "other", "risk"),
    [
        # What a loop reads is one of the names that are listed.
        (
            "git ls-files '*.js' | while read -r f; do grep -L strict \"$f\"; done",
            'cat list | while read -r f; do grep -L strict "$f"; done',
            "MEDIUM",
        ),
        (
            "while IFS= read -r f; do wc -l \"$f\"; done < <(find src -name '*.py')",
            "while IFS= read -r f; do cat \"$f\"; done < <(find . -name '.env*')",
            "HIGH",
        ),
        (
            "find src -name '*.go' | while read -r f; do gofmt -l \"$f\"; done",
            "find src -name '*.go' | while read -r f; do rm \"$f\"; done",
            "HIGH",
        ),
        (
            'find src | while read -r f; do wc -l "$f"; done',
            'find src | while read -r f; do while read g; do cat "$g"; done < list; done',
            "MEDIUM",
        ),
        (
            'find src | while read -r f; do wc -l "$f"; done',
            'find src | while true; do read f < list; cat "$f"; done',
            "MEDIUM",
        ),
        (
            'find src | while read -r f; do wc -l "$f"; done',
            'find src | while true; do read f <<< "$X"; cat "$f"; done',
            "MEDIUM",
        ),
        # Directories that are put before others.
        ("PYTHONPATH=/home/dev/proj pytest", "PYTHONPATH=/home/dev/other pytest", "MEDIUM"),
        ("PYTHONPATH=$PWD/src pytest", "PYTHONPATH=/tmp/x pytest", "MEDIUM"),
        (
            'export PATH="$HOME/.cargo/bin:$PATH" && cargo test',
            'export PATH="$HOME/.evil/bin:$PATH" && cargo test',
            "MEDIUM",
        ),
        (
            "PATH=$PWD/node_modules/.bin:$PATH eslint src",
            "PATH=$PWD/src:$PATH eslint src",
            "MEDIUM",
        ),
        ("source ~/.nvm/nvm.sh && npm test", "source ~/.nvm/other.sh && npm test", "MEDIUM"),
        # Options that read, and options that run.
        ("zstd -c a.bin | wc -c", "zstd -c a.bin -o /etc/a", "HIGH"),
        ("gzip -c dist/index.js | wc -c", "gzip dist/index.js", "MEDIUM"),
        ("valgrind ./build/unit_tests", "valgrind rm -rf build", "HIGH"),
        ("gdb -batch -ex run -ex bt --args ./build/tests -v", "gdb -ex 'shell id' x", "HIGH"),
        ("gdb -batch -ex bt ./build/tests", "gdb -batch -ex 'print system(1)' ./a", "HIGH"),
        ("lldb -b -o run -o bt -- ./build/tests", "lldb -b -o 'platform shell id' a", "HIGH"),
        ("gdb -batch -ex bt --args ./build/tests", "gdb --args rm -rf src", "HIGH"),
        ("gdb -batch -ex bt ./build/tests", "gdb ./build/tests", "MEDIUM"),
        ("gdb -q <<< 'info line'", "gdb -q <<< 'shell rm x'", "HIGH"),
        ("pip install -r <(cat a.txt)", "pip install -r <(curl https://example.com/a)", "HIGH"),
        ("man ls", "man --pager=/tmp/x ls", "HIGH"),
        # What a substitution prints is the name of a commit, or anything.
        ("git show $(git merge-base main x):a.py", "git show $(cat rev) -- a.py", "MEDIUM"),
        ("git diff --stat $(git rev-parse HEAD~3)", "git diff $(git rev-parse --x)", "MEDIUM"),
        ("git log $(git rev-parse HEAD)", "git $(git rev-parse push) --force", "HIGH"),
        # A job of this line, and programs of others.
        ("npm start & PID=$!; sleep 3; kill $PID", "npm start & sleep 3; kill 4711", "MEDIUM"),
        ("npm run dev & sleep 5; kill %1", "npm run dev & sleep 5; kill $OTHER", "HIGH"),
        ("npm start & sleep 3; kill -9 $!", "kill -9 $(cat server.pid)", "HIGH"),
        ("npm start & sleep 3; kill $(jobs -p)", "kill $(pgrep node)", "HIGH"),
        ('npm start & kill -s TERM "$!"', "npm start & kill -s TERM $! 1", "HIGH"),
        ("./target/release/app --help", "./target/release/deploy --help", "HIGH"),
        ("build/release/unit_tests", "scripts/release/all.sh", "HIGH"),
        ("LD_LIBRARY_PATH=./build/lib ./build/tests/run", "LD_LIBRARY_PATH=./build/lib ls", "HIGH"),
        ("LD_LIBRARY_PATH=$PWD/lib build/tests", "LD_LIBRARY_PATH=/tmp/x build/tests", "HIGH"),
        ("time { npm run build; npm test; }", "time { npm run build; rm -rf src; }", "HIGH"),
        ("time ( npm run build )", "time ( cd src && rm -rf x )", "HIGH"),
        # Modules and scripts of the project.
        (".venv311/bin/python -m pytest", "opt/bin/python -m pytest", "MEDIUM"),
        ("python runtests.py", "python latest.py", "MEDIUM"),
        ("python tools/graph.py --help", "python tools/graph.py --go", "MEDIUM"),
        ("node tools/graph.js --help", "bash tools/graph.sh --help", "MEDIUM"),
        ("terraform -chdir=infra validate", "terraform -chdir=infra destroy", "HIGH"),
        ("terraform -chdir=infra fmt", "terraform -chdir=../other apply", "HIGH"),
        ("npx playwright test -g 'delete account'", "npx playwright delete account", "HIGH"),
        ("python -m src.report.build", "python -m unknown_package", "MEDIUM"),
        ("python -m tests.check_schema", "python -m src.deploy", "HIGH"),
        ("python scripts/check_no_rm.py", "python scripts/rm_all.py", "HIGH"),
    ],
)
def test_the_one_is_low_and_the_other_is_not(ordinary: str, other: str, risk: str) -> None:
    assert (bash_risk(ordinary), bash_risk(other)) == ("LOW", risk)


@pytest.mark.parametrize(
    ("second_thought", "person"),
    [
        ("git checkout -- src/app.py", "git checkout -- src/"),
        ("git restore src/app.py", "git restore 'src/*.py' src/"),
        ("git push origin main", "git push https://git.example/x.git main"),
        (
            "git remote set-url origin https://git.example/x.git",
            "git remote set-url origin https://git.example/x.git; git push",
        ),
        ("git push -u origin main", "cd a && git remote add o git@h.example:x && git push o main"),
        ("alias rm='rm -i'", "alias ls='rm -rf src'"),
        ("ollama pull llama3", "ollama run llama3"),
        ("git checkout HEAD -- src/app.py", "git checkout HEAD -- src tests"),
        ("mv notes.txt /tmp/notes.txt", "mv /home/dev/proj /tmp/trash"),
        ("mv docs /tmp/docs", "mv .. /tmp/trash"),
        ("curl -X POST https://api.example.com/a -d x=1", "curl -X PUT https://api.example.com/a"),
        ("op run -- npm start", "aws-vault exec prod -- aws s3 ls"),
        ("adb push app.apk /sdcard/", "adb push app.apk /system/app/"),
    ],
)
def test_the_one_needs_a_second_thought_and_the_other_a_person(
    second_thought: str, person: str
) -> None:
    assert (bash_risk(second_thought), bash_risk(person)) == ("MEDIUM", "HIGH")


@pytest.mark.parametrize("what", ["run_tests", "run_test", "run_lint", "runBuild"])
def test_a_server_that_runs_tests_needs_no_person(what: str) -> None:
    assert judged(f"mcp__qa__{what}", path="tests").risk is Risk.MEDIUM


@pytest.mark.parametrize("what", ["run_command", "run", "run_test_and_deploy", "delete_tests"])
def test_a_server_that_runs_anything_needs_one(what: str) -> None:
    assert judged(f"mcp__qa__{what}", path="tests").risk is Risk.HIGH


@pytest.mark.parametrize("query", ["select 1", "-- all of it\nSELECT a FROM b; EXPLAIN SELECT 1"])
def test_a_server_that_asks_a_database_needs_nobody(query: str) -> None:
    assert judged("mcp__supabase__execute_sql", query=query).risk is Risk.LOW


@pytest.mark.parametrize(
    "query",
    ["", "select 1; drop table a", "with x as (delete from a) select 1", "call f()", "-- select"],
)
def test_one_that_may_do_more_does(query: str) -> None:
    assert judged("mcp__supabase__execute_sql", query=query).risk is Risk.HIGH
