"""`pcc config`: what cannot be is refused in the words of the person's own file."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from perpetualcc.brain import keys as brain_keys
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.main import app
from perpetualcc.config.file import settings as known_settings
from perpetualcc.domain.errors import PerpetualError


@pytest.fixture
def config(tmp_path, monkeypatch):
    file = tmp_path / "mine.toml"
    # Once `--config` was given, it is set for the whole process.
    monkeypatch.setenv("PERPETUALCC_CONFIG", str(file))

    def run(*words, typed=""):
        return CliRunner().invoke(app, ["--config", str(file), "config", *words], input=typed)

    run.file = file
    return run


@pytest.mark.parametrize(
    ("words", "when"),
    [
        (("set", "brain.auto_answer", "false"), "It counts from the next start"),
        (("set", "confidence_threshold", "0.9"), "for sessions that begin after the next start"),
        (("set", "handover.hard_minutes", "40"), "for sessions that begin after the next start"),
        (("reset", "brain.auto_answer"), "It counts from the next start"),
        (("brain", "none", "--no-check"), "for sessions that begin after the next start"),
    ],
)
def test_a_change_says_from_when_on_it_counts(config, words, when):
    said = config(*words).output

    assert when in said
    assert "daemon restart" in said


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("confidence_threshold", "5"),
        ("confidence_threshold", "1.1"),
        ("brain.claude.timeout", "0"),
        ("notifications.urls", "secret-without-a-scheme"),
        ("limits.quiet_hours", "late"),
        ("limits.warn_at", "1.5"),
        ("load.max_cpu", "80"),
        ("load.max_memory", "80"),
        ("human.permission_hours", "1e12"),
        ("human.remind_after", "99999999999d"),
        ("notifications.give_up_hours", "1e12"),
        ("notifications.retry_seconds", "0"),
        ("brain.claude.max_budget_usd", "0"),
        ("brain.gemini.base_url", "secret.example"),
        ("brain.ollama.host", "ftp://secret"),
        ("brain.ollama.host", "two words"),
        ("knowledge.ollama_address", "localhost:11434"),
        ("knowledge.ollama_address", ""),
        ("knowledge.chroma_address", "http://"),
    ],
)
def test_a_value_that_cannot_be_leaves_the_file_and_is_told_of_it(config, key, value):
    config.file.write_text("# mine\n[load]\nmax_memory = 0.5\n")

    error = config("set", key, value).exception

    assert isinstance(error, Mistyped)
    assert f"'{config.file}' stays as it is" in error.message
    assert ".new" not in error.message
    assert "secret" not in error.message
    assert error.hint
    assert config.file.read_text() == "# mine\n[load]\nmax_memory = 0.5\n"
    assert [one.name for one in config.file.parent.iterdir()] == ["mine.toml"]


def test_a_program_that_is_not_there_is_warned_of(config):
    there = config("set", "claude.binary", __file__)
    missing = config("set", "claude.binary", "/nowhere/claude")

    assert there.stderr == ""
    assert missing.stderr == "Warning: there is no file '/nowhere/claude' now\n"
    assert json.loads(config("get", "claude.binary", "--json").stdout) == {
        "claude.binary": "/nowhere/claude"
    }


def test_a_key_is_not_shown_as_json_either(config):
    config("set", "brain.gemini.api_key", "very-secret")

    assert json.loads(config("get", "api_key", "--json").stdout) == {"brain.gemini.api_key": "…"}
    shown = json.loads(config("show", "--json").stdout)
    assert shown["brain.gemini.api_key"] == "…"
    assert list(shown) == [name for name, _, _ in known_settings()]


LISTS = {
    "permissions.safe_directories": ["src/", "docs/my, notes/"],
    "permissions.blocked_commands": ["git push", "curl | sh"],
    "permissions.credential_paths": ["~/vault", "*.token"],
    "permissions.credential_exceptions": [".env.ci"],
    "permissions.trusted_hosts": ["docs.python.org"],
    "human.remind_after": ["30m"],
    "limits.ask_for_models": ["opus", "fable"],
    "notifications.urls": ["env:MAIL"],
}


@pytest.mark.parametrize(("key", "value"), LISTS.items())
def test_a_list_is_set_as_it_is_printed(config, key, value):
    written = json.dumps(value)

    assert config("set", key, written).exception is None
    assert config("get", key).stdout == f"{written}\n"
    assert config("set", key, config("get", key).stdout).exception is None
    assert config("get", key).stdout == f"{written}\n"


def test_what_is_printed_may_be_set_whatever_the_setting(config):
    for name, _, _ in known_settings():
        printed = config("get", name).stdout

        assert config("set", name, printed.strip()).exception is None, name
        assert config("get", name).stdout == printed


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("sudo, git push", ["sudo", "git push"]),
        ("['git push', \"sudo\",]", ["git push", "sudo"]),
        (' ["git push"] ', ["git push"]),
        ("[]", []),
        ("", []),
    ],
)
def test_a_list_is_read_with_commas_as_json_and_as_toml(config, written, read):
    config("set", "blocked_commands", written)

    assert json.loads(config("get", "blocked_commands").stdout) == read


@pytest.mark.parametrize("written", ['["a", 1]', "[a, b]", '["a"', "[[]]"])
def test_a_broken_list_is_refused_with_both_spellings(config, written):
    error = config("set", "limits.ask_for_models", written).exception

    assert "is no list of texts" in error.message
    assert error.hint == """Write a, b or '["a", "b"]'"""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("safe_directories", "/"),
        ("safe_directories", "src/, .."),
        ("safe_directories", "."),
        ("safe_directories", "/etc"),
        ("safe_directories", "~"),
        ("safe_directories", "*"),
        ("safe_directories", ".git"),
        ("safe_directories", "src/.git"),
        ("blocked_commands", "sudo, a && b"),
        ("blocked_commands", '[""]'),
        ("blocked_commands", "# nothing"),
        ("credential_paths", "*"),
        ("credential_paths", "../keys"),
        ("credential_exceptions", "*"),
        ("credential_exceptions", ".*"),
        ("credential_exceptions", "config/.env"),
        ("trusted_hosts", "https://docs.python.org"),
        ("trusted_hosts", "*.python.org"),
        ("trusted_hosts", "localhost"),
        ("limits.ask_for_models", '[""]'),
    ],
)
def test_an_entry_that_does_nothing_or_everything_is_refused(config, key, value):
    error = config("set", key, value).exception

    assert "stays as it is" in error.message
    assert error.hint
    assert not config.file.exists()


@pytest.mark.parametrize("key", ["notifications.urls", "brain.gemini.api_key"])
def test_what_is_shown_instead_of_a_secret_is_not_taken_for_it(config, key):
    config("set", key, "mailto://me:secret@example.org")
    kept = config.file.read_text()

    error = config("set", key, config("get", key).stdout.strip()).exception

    assert error.hint
    assert config.file.read_text() == kept


def test_an_entry_in_the_file_is_told_of_with_its_line(config):
    config.file.write_text('[permissions]\nsandbox = "off"\nsafe_directories = ["src/", "/"]\n')

    error = config("show").exception

    assert "line 3" in error.message
    assert "'/' in 'permissions.safe_directories'" in error.message


def test_without_a_terminal_a_key_is_a_line_of_input_or_named(config, monkeypatch):
    monkeypatch.setattr(brain_keys, "store_key", refuse_to_store)

    piped = config("brain", "gemini", "--no-check", typed="k-123\n")
    nobody = config("brain", "gemini", "--no-check")

    assert piped.exit_code == 0
    assert 'api_key = "k-123"' in config.file.read_text()
    assert nobody.exception.message == "There is no API key"
    assert nobody.exception.hint == "Say where it is: pcc config brain gemini --key env:NAME"


def refuse_to_store(*_):
    raise PerpetualError("no key store")


def test_a_printed_command_can_be_typed(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PERPETUALCC_CONFIG", raising=False)
    (tmp_path / "a b").mkdir()

    said = CliRunner().invoke(app, ["init", str(tmp_path / "a b"), "--no-vectors"]).stdout

    assert f"  pcc start '{tmp_path}/a b' --task" in said


def test_the_mistake_in_a_file_is_mended_by_the_command_that_its_hint_names(config):
    config.file.write_text('# mine\n[sessions]\nmax_concurrent = "5"\n')
    assert "pcc config set sessions.max_concurrent" in config("show").exception.hint

    still = config("set", "auto_resume", "off").exception
    assert "'sessions.max_concurrent' must be" in still.message
    assert "line 3" in still.message

    assert config("set", "max_concurrent", "4").exit_code == 0
    assert config.file.read_text() == "# mine\n[sessions]\nmax_concurrent = 4\n"

    config.file.write_text('[sessions]\nmax_concurrent = "5"\n')
    assert config("reset", "max_concurrent").exit_code == 0


@pytest.mark.parametrize("text", ["[sessions\n", "sessions = 3\n", "[[sessions]]\n", "[nowhere]\n"])
def test_a_mistake_that_a_value_does_not_mend_is_told_as_it_is(config, text):
    config.file.write_text(text)
    told = config("show").exception.message

    assert config("set", "max_concurrent", "4").exception.message == told
    assert config.file.read_text() == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[human]\nhold_seconds = 20.0\n", ""),
        ("[brain.gemini]\napi_key = 'env:K'\n", ""),
        ("[human]\nhold_seconds = 20.0\n# mine\n", "[human]\n# mine\n"),
        (
            "[human]\nhold_seconds = 20.0\npermission_hours = 9.0\n",
            "[human]\npermission_hours = 9.0\n",
        ),
        ("human.hold_seconds = 20.0\n", ""),
        (
            "[brain]\ntype = 'none'\n[load]\nmax_cpu = 0.5\n[brain.gemini]\napi_key = 'env:K'\n",
            "[brain]\ntype = 'none'\n[load]\nmax_cpu = 0.5\n",
        ),
        ("human = {hold_seconds = 20.0}\n", "human = {}\n"),
    ],
)
def test_a_section_without_a_key_is_left_out_of_the_file(config, text, left):
    config.file.write_text(text)

    config("reset", "brain.gemini.api_key" if "gemini" in text else "hold_seconds")

    assert config.file.read_text() == left


def test_a_link_to_the_file_stays_a_link(config, tmp_path):
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("# mine\n")
    config.file.symlink_to(kept)

    assert config("set", "max_concurrent", "4").exit_code == 0

    assert config.file.is_symlink()
    assert kept.read_text() == "# mine\n\n[sessions]\nmax_concurrent = 4\n"


def test_what_to_type_names_the_file_and_the_data_of_this_command(config, tmp_path):
    place = tmp_path / "my data"
    typed = ["--data-dir", str(place), "--config", str(config.file), "config"]

    said = CliRunner().invoke(app, [*typed, "set", "max_concurrent", "4"]).output

    assert f"pcc --config {config.file} --data-dir '{place}' daemon restart\n" in said


@pytest.mark.parametrize("key", ["stuck.same_call", "stuck.denials"])
def test_a_hint_names_the_key_that_is_wrong(config, key):
    error = config("set", key, "1").exception

    assert key in error.message
    assert error.hint.startswith(f"pcc config set {key} ")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("brain.gemini.base_url", "https://me:word@host.example/v1"),
        ("brain.gemini.base_url", ""),
        ("brain.ollama.host", "localhost:11434"),
        ("brain.ollama.host", "http://[::1]:11434/"),
        ("knowledge.ollama_address", "https://host.example/ollama"),
        ("knowledge.chroma_address", ""),
    ],
)
def test_an_address_of_a_server_is_taken(config, key, value):
    assert config("set", key, value).exit_code == 0


def test_a_file_that_begins_with_the_mark_of_some_editors_is_read_and_changed(config):
    config.file.write_bytes(b"\xef\xbb\xbf[sessions]\r\nmax_concurrent = 3\r\n")

    assert config("get", "max_concurrent").output == "3\n"
    assert config("set", "max_concurrent", "4").exit_code == 0
    assert config("get", "max_concurrent").output == "4\n"


@pytest.mark.parametrize(
    ("words", "says", "right"),
    [
        (
            ("set", "max_concurrent", "many"),
            "'many' is not a whole number from 0 on",
            "pcc config set sessions.max_concurrent 5",
        ),
        (
            ("set", "brain.type", "gpt"),
            "'gpt' is not one of none, claude, gemini, ollama",
            "pcc config set brain.type none",
        ),
        (("set", "human.unattended", "later"), "one of deny, wait", "set human.unattended deny"),
        (("set", "auto_resume", "maybe"), "true or false", "set sessions.auto_resume true"),
        (("brain", "gpt"), "'gpt' is not one of", "pcc config brain claude"),
    ],
)
def test_what_is_no_value_is_answered_with_one_that_can_be_typed(config, words, says, right):
    slip = config(*words).exception

    assert isinstance(slip, Mistyped)
    assert says in slip.message
    assert slip.hint.startswith("Such as: ")
    assert slip.hint.endswith(right)


@pytest.mark.parametrize(
    "words", [("get", "max_worry"), ("set", "max_worry", "1"), ("reset", "max_worry")]
)
def test_a_key_that_there_is_not_is_typed_wrong(config, words):
    assert isinstance(config(*words).exception, Mistyped)


def test_a_value_that_only_contradicts_the_file_is_no_slip(config):
    config.file.write_text("[handover]\nhard_tokens = 100000\n")

    refused = config("set", "handover.warn_tokens", "110000").exception

    assert "100000" in refused.message
    assert not isinstance(refused, Mistyped)


def test_of_many_who_change_a_setting_at_once_none_undoes_another_s(config):
    wanted = {
        "human.hold_seconds": 7.0,
        "brain.type": "ollama",
        "sessions.max_concurrent": 3,
        "sessions.history_days": 9,
        "stuck.minutes": 11.0,
        "load.max_cpu": 0.5,
    }

    changing = [
        subprocess.Popen([sys.executable, "-m", "perpetualcc", "config", "set", name, str(value)])
        for name, value in wanted.items()
    ]

    assert [one.wait(30) for one in changing] == [0] * len(wanted)
    shown = json.loads(config("show", "--json").output)
    assert {name: shown[name] for name in wanted} == wanted
