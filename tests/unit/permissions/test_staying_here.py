"""What changes only this machine, by the words of the command itself, is for the brain."""

import pytest
from judging import bash_risk

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.knowledge import Knowledge


@pytest.mark.parametrize(
    "command",
    [
        'sqlite3 dev.db "insert into t values (1)"',
        "sqlite3 tests/fixtures/x.sqlite3 \"update t set a = 'drop'\"",
        'duckdb dev.duckdb -c "update t set x = 1"',
        "duckdb -c \"copy (select * from 'data/x.csv') to 'build/x.parquet'\"",
        'wrangler d1 execute DB --local --command "insert into t values (1)"',
        "wrangler d1 migrations apply DB --local",
        "supabase migration up --local",
        "aws --endpoint-url http://localhost:4566 s3 mb s3://x",
        "awslocal sqs create-queue --queue-name x",
        "DATABASE_URL=postgres://u:p@localhost:5432/dev npx prisma migrate deploy",
        "DATABASE_URL=file:./dev.db npx prisma db push",
        'psql -h localhost -U postgres -d app_dev -c "insert into t values (1)"',
        'psql postgresql://u:p@localhost:5432/app_test -c "update t set x = 1"',
        'mysql -h 127.0.0.1 -D shop_test -e "insert into t values (1)"',
        "dbt run --target dev",
        "dbt build -t ci",
        "docker compose stop",
        "docker stop web",
        "adb shell input tap 10 20",
        "xcrun simctl boot 'iPhone 15'",
        "emulator -avd Pixel",
    ],
)
def test_a_change_that_stays_on_this_machine_is_medium(command: str) -> None:
    assert bash_risk(command) is Risk.MEDIUM


@pytest.mark.parametrize(
    "command",
    [
        'sqlite3 app.db "insert into t values (1)"',
        'sqlite3 ../dev.db "insert into t values (1)"',
        'sqlite3 ~/dev.db "insert into t values (1)"',
        'sqlite3 "$DIR/dev.db" "insert into t values (1)"',
        'sqlite3 dev-backup.db "insert into t values (1)"',
        'sqlite3 prod-test.db "update t set x = 1"',
        'sqlite3 dev.db "insert into t values (1); delete from t"',
        "sqlite3 dev.db \"attach 'prod.db' as p; insert into p.t values (1)\"",
        "sqlite3 dev.db < seed.sql",
        "duckdb -c \"copy (select 1) to 's3://bucket/x'\"",
        "duckdb -c \"copy (select 1) to '.git/hooks/pre-commit'\"",
        'wrangler d1 execute DB --local --command "drop table t"',
        'wrangler d1 execute DB --local=false --command "insert into t values (1)"',
        "wrangler d1 migrations apply DB --local --remote",
        "wrangler kv key delete --local --binding X a",
        "supabase db reset --local",
        "supabase migration up",
        "aws --endpoint-url http://localhost:4566 s3 rb s3://x",
        "aws --endpoint-url http://localhost:4566 dynamodb delete-table --table-name t",
        "aws --endpoint-url http://localhost.evil.com s3 mb s3://x",
        "aws --endpoint-url http://localhost:4566@evil.com s3 mb s3://x",
        "aws --endpoint-url http://localhost:1 --endpoint-url https://x.com s3 cp a s3://b",
        "awslocal s3 rm s3://x/y",
        "DATABASE_URL=$URL npx prisma migrate deploy",
        "DATABASE_URL=postgres://db.example.com/dev npx prisma migrate deploy",
        "DATABASE_URL=postgres://localhost@evil.com/dev npx prisma migrate deploy",
        "DATABASE_URL=postgres://localhost/prod npx prisma migrate deploy",
        "DATABASE_URL=postgres://localhost/dev npx prisma migrate reset",
        "DATABASE_URL=postgres://localhost/dev npx prisma db push --force-reset",
        "DATABASE_URL=postgres://localhost/dev sh -c 'DATABASE_URL=$X npx prisma db push'",
        "DATABASE_URL=postgres://localhost/dev?host=evil.com npx prisma migrate deploy",
        'psql -h localhost -d app -c "insert into t values (1)"',
        'psql -d app_dev -c "insert into t values (1)"',
        'psql -h db.example.com -d app_dev -c "insert into t values (1)"',
        'psql -h localhost -h x.com -d app_dev -c "insert into t values (1)"',
        'psql -h localhost -d "dbname=app_dev host=x.com" -c "insert into t values (1)"',
        "psql 'postgresql://localhost/app_test?host=x.com' -c 'insert into t values (1)'",
        'PGHOSTADDR=192.0.2.1 psql -h localhost -d app_dev -c "insert into t values (1)"',
        'psql -h localhost -d app_dev -c "delete from t"',
        "psql -h localhost -d app_dev -f seed.sql",
        "npx prisma migrate deploy",
        "dbt run --target dev --target prod",
        "docker compose down -v",
    ],
)
def test_without_that_or_where_something_is_deleted_a_person_is_asked(command: str) -> None:
    assert bash_risk(command) is Risk.HIGH


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("cdk deploy --method=prepare-change-set", "LOW"),
        ("cdk deploy -m prepare-change-set", "LOW"),
        ("cdk deploy --method=direct", "HIGH"),
        ("cdk deploy --method direct", "HIGH"),
        ("cdk deploy --method=prepare-change-set --method=direct", "HIGH"),
        ("dbt build --target prod", "HIGH"),
        ("dbt build -tproduction", "HIGH"),
        ("dbt build --target=dev", "MEDIUM"),
        ("electron-builder --linux --publish never", "LOW"),
        ("electron-builder --linux -p always", "HIGH"),
        ("spark-submit --conf spark.master=yarn job.py", "HIGH"),
        ("conda install -c conda-forge numpy", "LOW"),
        ("conda install -c somebody numpy", "MEDIUM"),
    ],
)
def test_some_values_of_an_option_mean_something_else(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


def test_what_one_value_of_an_option_means_is_said_beside_the_option() -> None:
    group = {"commands": ["x"], "rule": "r", "risk": "LOW", "explanation": "X."}
    options = {"x": {"--to=prod": "value HIGH: Y"}}

    with pytest.raises(ValueError, match="beside it"):
        Knowledge([{"group": [group], "options": options}])


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("adb shell getprop ro.build.version.sdk", "LOW"),
        ("adb -s emulator-5554 shell pm list packages", "LOW"),
        ("adb shell ls /sdcard", "LOW"),
        ("adb shell ls \\; rm -rf /sdcard", "HIGH"),
        ("adb shell ls \\; frobnicate", "MEDIUM"),
        ("adb shell 'rm -rf /sdcard'", "HIGH"),
        ("adb shell 'pm clear com.x'", "HIGH"),
        ("adb shell su -c id", "HIGH"),
        ("adb exec-out 'rm -rf /sdcard'", "HIGH"),
    ],
)
def test_a_shell_of_a_device_is_judged_by_what_it_runs(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("qemu-system-arm -M virt -nographic -kernel build/fw.elf", "LOW"),
        ("qemu-system-x86_64 -drive format=raw,file=build/os.img -serial mon:stdio", "LOW"),
        ("qemu-system-x86_64 -kernel /tmp/bzImage", "MEDIUM"),
        ("qemu-system-x86_64 -drive format=raw,file=/tmp/x.img", "MEDIUM"),
        ("qemu-system-x86_64 -virtfs local,path=/,mount_tag=x -hda build/x.img", "MEDIUM"),
        ("qemu-system-x86_64 -monitor tcp:0.0.0.0:4444,server build/x.img", "MEDIUM"),
        ("qemu-system-x86_64 -drive format=raw,file=/dev/sda", "HIGH"),
        ("qemu-img convert -O raw x.qcow2 /dev/sdb", "HIGH"),
        ("idf.py build", "LOW"),
        ("idf.py build flash", "MEDIUM"),
        ("idf.py build erase-flash flash", "HIGH"),
    ],
)
def test_what_a_machine_inside_this_one_or_a_board_is_given_counts(command: str, risk: str) -> None:
    assert bash_risk(command) == risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("docker run --rm -v $PWD:/w hashicorp/terraform:1.9 apply -auto-approve", "HIGH"),
        ("docker run --rm bitnami/kubectl delete pod x", "HIGH"),
        ("docker compose run --rm deployer fly deploy", "HIGH"),
        ("docker run --rm -v $PWD:/w node npm publish", "HIGH"),
        ("docker run --rm -v $PWD:/w hashicorp/terraform:1.9 validate", "MEDIUM"),
        ("docker run --rm node npm test", "MEDIUM"),
    ],
)
def test_no_container_holds_back_what_is_deployed_from_it(command: str, risk: str) -> None:
    assert bash_risk(command) == risk
