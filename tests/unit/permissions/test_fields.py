"""What holds for programs of many fields: databases by their shells, Windows under WSL, looks."""

import pytest
from judging import bash_risk

from perpetualcc.domain.tools import Risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("tasklist.exe", Risk.LOW),
        ("taskkill.exe /F /IM node.exe", Risk.HIGH),
        ("python3.exe -m pytest", Risk.LOW),
        ("frobnicate.exe", Risk.MEDIUM),
        ("wsl.exe -l -v", Risk.LOW),
        ("wsl.exe --unregister Ubuntu", Risk.HIGH),
        ("wsl -d Ubuntu -e rm -rf x", Risk.HIGH),
        ("wsl ls", Risk.LOW),
    ],
)
def test_a_program_of_windows_is_known_by_its_name(command: str, risk: Risk) -> None:
    assert bash_risk(command) is risk


@pytest.mark.parametrize("command", ["cabal list", "stack ls dependencies", "mlflow runs list"])
def test_a_tool_of_medium_risk_that_only_looks_is_low(command: str) -> None:
    assert bash_risk(command) is Risk.LOW


@pytest.mark.parametrize(
    "command",
    [
        "cabal frobnicate",
        "cabal frob list",
        "manage.py charge_all status",
        "mlflow run .",
        "airflow connections get x",
    ],
)
def test_and_one_that_does_more_or_shows_secrets_is_not(command: str) -> None:
    assert bash_risk(command) is not Risk.LOW


@pytest.mark.parametrize(
    "statement",
    [
        "SET GLOBAL general_log_file='/var/www/x.php'",
        "INSTALL PLUGIN x SONAME 'x.so'",
        "select dblink_exec('host=x', 'y')",
        "select pg_read_binary_file('/etc/shadow')",
        "select lo_export(1, '/tmp/x')",
    ],
)
def test_a_statement_that_reaches_past_the_data_is_for_a_person(statement: str) -> None:
    assert bash_risk(f'psql -c "{statement}"') is Risk.HIGH


@pytest.mark.parametrize(
    "statement",
    [
        "select lo_orderdate from lineorder",
        "select * from pg_stat_activity",
        "select set_at from t",
    ],
)
def test_a_column_that_is_called_so_is_not(statement: str) -> None:
    assert bash_risk(f'psql -c "{statement}"') is Risk.MEDIUM


def test_a_look_into_a_database_that_is_a_file_is_low_however_it_is_given() -> None:
    assert bash_risk('duckdb app.db -c "show tables"') is Risk.LOW
    assert bash_risk('duckdb app.db -c "drop table t"') is Risk.HIGH
    assert bash_risk("clickhouse-local -q \"select * from file('/home/dev/.netrc')\"") is Risk.HIGH
    assert bash_risk("sqlplus u@db @drop.sql") is Risk.HIGH


def test_a_command_of_an_editor_is_no_file() -> None:
    assert bash_risk("nvim --headless +'PlenaryBustedDirectory tests/' +q") is Risk.LOW
    assert bash_risk("nvim --headless +'!sh' +q") is Risk.HIGH
