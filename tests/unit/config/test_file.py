"""The configuration file: whatever is in it, it is read or refused with a place and a hint."""

import ast
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import perpetualcc
from perpetualcc.config.file import (
    Config,
    ConfigError,
    DashboardSettings,
    kind_name,
    load_config,
    parse_value,
    resolve_key,
    value_of,
)
from perpetualcc.config.file import settings as known_settings
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.human.notifications.times import next_try

KEYS = [name for name, _, _ in known_settings()]
SECTIONS = sorted({name.rpartition(".")[0] for name in KEYS})


@pytest.fixture
def written(tmp_path):
    """Write a configuration and load it."""

    def load(text: str | bytes) -> Config:
        path = tmp_path / "config.toml"
        path.write_bytes(text.encode(errors="surrogatepass") if isinstance(text, str) else text)
        return load_config(path)

    return load


_ANY_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
_VALUES = st.sampled_from(
    ["1", "-1", "0.5", "nan", "inf", "1e300", "true", '"text"', '""', "[]", '["a"]', "[1]", "{}",
     "2026-11-21", "9" * 5000, "{a = 1}", "[[1]]"]
)  # fmt: skip
_LINES = st.one_of(
    st.builds("[{}]".format, st.sampled_from([*SECTIONS, "nothing", "brain.odd"])),
    st.builds("{} = {}".format, st.sampled_from([k.rpartition(".")[2] for k in KEYS]), _VALUES),
    st.builds("{} = {}".format, st.sampled_from([*KEYS, *SECTIONS, '"a b"']), _VALUES),
    st.text(max_size=12),
)


@_ANY_FILE
@given(st.lists(_LINES, max_size=6).map("\n".join))
@example("a = " + "[" * 5000)
@example("[sessions]\nmax_concurrent = " + "9" * 5000)
@example("[human]\nhold_seconds = nan")
@example("[brain.claude]\ntimeout = 1e300")
def test_a_file_is_read_or_refused_and_nothing_else(written, text):
    config, refusal = attempt(written, text)

    if refusal is None:
        assert config.human.hold.total_seconds() >= 0
    else:
        assert "config.toml" in refusal.message
        assert refusal.hint


def attempt(written, text: str | bytes) -> tuple[Config | None, ConfigError | None]:
    """What is read, or why not. Anything else that is raised is a bug."""
    try:
        return written(text), None
    except ConfigError as error:
        return None, error


@_ANY_FILE
@given(st.binary(max_size=40))
def test_bytes_that_are_no_text_are_refused(written, data):
    config, refusal = attempt(written, data)

    assert config == Config() or refusal.hint


_NUMBERS = [name for name, kind, _ in known_settings() if kind in {int, float, timedelta}]


@pytest.mark.parametrize("number", ["0", "1", "1e12", "1000000000000"])
@pytest.mark.parametrize("name", _NUMBERS)
def test_no_number_is_taken_that_nothing_can_work_with(written, name, number):
    section, _, key = name.rpartition(".")

    config, refusal = attempt(written, f"[{section}]\n{key} = {number}\n")

    if refusal is None:
        first = timedelta(seconds=config.notifications.retry_seconds)
        spans = (config.human.hold, config.human.permission_patience, config.notifications.give_up)
        assert all(one >= timedelta() for one in (*spans, next_try(20, first)))
    else:
        assert refusal.hint


def test_nothing_is_the_defaults(written, tmp_path):
    assert load_config(tmp_path / "not there") == Config() == written("") == written("# only this")


def test_a_directory_in_its_place_is_an_error_with_a_hint(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path)


@pytest.mark.parametrize(("name", "default"), [s[::2] for s in known_settings()], ids=KEYS)
def test_every_default_is_a_value_that_may_be_written(written, name, default):
    section, _, key = name.rpartition(".")
    plain = default.total_seconds() if hasattr(default, "total_seconds") else default
    text = json.dumps(list(plain) if isinstance(plain, tuple) else plain, ensure_ascii=False)

    assert value_of(written(f"[{section}]\n{key} = {text}\n"), name) == default


@pytest.mark.parametrize(("name", "kind"), [s[:2] for s in known_settings()], ids=KEYS)
def test_a_wrong_type_is_named_with_its_line(written, name, kind):
    section, _, key = name.rpartition(".")

    with pytest.raises(ConfigError) as caught:
        written(f"# a comment\n\n[{section}]\n{key} = {{odd = 1}}\n")

    assert f"'{name}' must be {kind_name(kind)}" in caught.value.message
    assert "line 4)" in caught.value.message
    assert caught.value.hint == f"pcc config set {name} …"


_UNKNOWN = "Unknown key 'sessions.max_concurent'"
_NEAREST = "Did you mean 'sessions.max_concurrent'?"


@pytest.mark.parametrize(
    ("text", "problem", "line", "hint"),
    [
        ("[sessions]\nmax_concurent = 3", _UNKNOWN, 2, _NEAREST),
        ("sessions.max_concurent = 3", _UNKNOWN, 1, _NEAREST),
        ("\n[sesions]\n", "Unknown key 'sesions'", 2, "Did you mean 'sessions'?"),
        ("[sessions]\nzzz = 1", "Unknown key 'sessions.zzz'", 2, "Known here: max_concurrent"),
        ("sessions = 3", "'sessions' is a section", 1, "[sessions]"),
        (
            "[sessions]\nmax_concurrent = -1",
            "a whole number from 0 on, not -1",
            2,
            "pcc config set",
        ),
        (
            "[sessions]\nmax_concurrent = true",
            "a whole number from 0 on, not True",
            2,
            "pcc config set",
        ),
        ("[human]\nhold_seconds = -1", "a number from 0 on, not -1", 2, "pcc config set"),
        ("[brain.claude]\ntimeout = 0", "a number of seconds above 0, not 0", 2, "pcc config set"),
        ("[brain]\nconfidence_threshold = 5", "between 0 and 1", 1, "pcc config set"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_what_to_do(written, text, problem, line, hint):
    with pytest.raises(ConfigError) as caught:
        written(text)

    assert problem in caught.value.message
    assert f"line {line})" in caught.value.message
    assert hint in caught.value.hint


def test_a_key_may_be_named_by_its_last_part_where_that_is_unique():
    assert resolve_key("max_concurrent")[0] == "sessions.max_concurrent"
    assert resolve_key("sessions.max_concurrent")[0] == "sessions.max_concurrent"
    with pytest.raises(PerpetualError, match="Several keys are called 'model'") as several:
        resolve_key("model")
    assert "claude.model" in several.value.hint
    with pytest.raises(PerpetualError, match="No key is called") as nearest:
        resolve_key("max_concurent")
    assert "sessions.max_concurrent" in nearest.value.hint
    with pytest.raises(PerpetualError) as nothing:
        resolve_key("qqqqqq")
    assert nothing.value.hint == "See: pcc config show"


@pytest.mark.parametrize(
    ("kind", "typed", "value"),
    [
        (int, "8", 8),
        (float, "0.5", 0.5),
        (float, "3", 3.0),
        (bool, "On", True),
        (bool, "no", False),
        (str, "any text", "any text"),
        (tuple[str, ...], " a, b ,", ["a", "b"]),
        (tuple[str, ...], "", []),
    ],
)
def test_what_is_typed_becomes_a_value(kind, typed, value):
    assert parse_value(kind, typed) == value


@pytest.mark.parametrize(
    ("kind", "typed"), [(int, "x"), (int, "1.5"), (float, ""), (bool, "maybe")]
)
def test_what_is_typed_wrong_is_refused(kind, typed):
    with pytest.raises(PerpetualError, match="is not"):
        parse_value(kind, typed)


@pytest.mark.parametrize("key", KEYS)
def test_no_setting_is_without_effect(key, attributes_read):
    """Each is read somewhere, by its own name or by what its section makes of it."""
    assert key.rpartition(".")[2] in attributes_read


@pytest.fixture(scope="module")
def attributes_read():
    source = Path(perpetualcc.__file__).parent
    return {
        node.attr
        for file in source.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
@pytest.mark.timeout(10)
def test_a_configuration_that_is_no_file_is_refused_at_once(tmp_path, make):
    path = tmp_path / "config.toml"
    make(path)

    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(path)


def test_a_configuration_beyond_all_sizes_is_refused_and_not_cut(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("[sessions]\n")
    os.truncate(path, 1 << 30)

    with pytest.raises(ConfigError, match="more than 10000000 bytes"):
        load_config(path)


def test_no_configuration_may_be_named_as_the_null_device():
    assert load_config(Path(os.devnull)) == Config()


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("https://box.example.ts.net", True),
        ("https://192.168.1.20:8443", True),
        ("https://localhost.example.org", True),
        ("https://127.0.0.1:8420", False),
        ("https://localhost", False),
        ("https://localhost:8443", False),
        ("http://box.example.ts.net", False),
        ("https://box.example.ts.net/", False),
    ],
)
def test_an_address_for_devices_is_not_that_of_the_page_on_this_machine(address, is_one):
    if is_one:
        assert DashboardSettings(address=address).address == address
    else:
        with pytest.raises(PerpetualError, match="no https address of a host"):
            DashboardSettings(address=address)
