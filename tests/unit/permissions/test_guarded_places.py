"""The places that hold secrets or run by themselves, each by the name its program gives it."""

import pytest
from judging import bash_risk, judged

from perpetualcc.domain.tools import Risk

SECRETS = [
    "~/.openai/api_key", "~/.config/openai/key", "~/.config/supabase/access-token",
    "~/.smbcredentials", "~/.config/restic/pw", "~/.config/atuin/key",
    "~/.config/snowflake/config.toml", "~/.config/ovh.conf", "ovh.conf",
    "~/.config/cloudflared/cert.pem", "/etc/cloudflared/cert.pem",
    "/var/lib/tailscale/tailscaled.state", "/etc/gitlab-runner/config.toml",
    "~/.config/gitlab-runner/config.toml", "~/.gitlab-runner/config.toml", "~/.jenkins/secrets/x",
    "~/.muttrc", "~/.mutt/muttrc", "~/.config/neomutt/neomuttrc", "~/.config/Slack/Cookies",
    "~/.config/discord/Cookies", "~/.config/Bitwarden/data.json", "~/.config/syncthing/config.xml",
    "~/.local/state/syncthing/key.xml", "~/.config/sui/x", "~/.aider.conf.yml",
    "~/.continue/config.json", "~/.codeium/config.json", "~/.cursor/mcp.json",
    "~/.config/Code/User/globalStorage/state.vscdb", "x/state.vscdb", "wg0.conf", "passwords.csv",
    "~/.irb_history", "~/.php_history", "~/.local/share/atuin/history.db",
]  # fmt: skip
PLAIN = [
    ".aider.conf.yml", ".cursor/mcp.json", "src/wgpu.conf", "cert.pem", "docs/history.md",
    "~/.config/Code/User/settings.json", ".continue/config.json",
]  # fmt: skip


@pytest.mark.parametrize("path", SECRETS)
def test_only_a_person_lets_a_secret_be_read(path: str) -> None:
    assert bash_risk(f"cat {path}") is Risk.HIGH
    assert judged("Read", file_path=path).risk is Risk.HIGH


@pytest.mark.parametrize("path", PLAIN)
def test_what_holds_none_is_read(path: str) -> None:
    assert bash_risk(f"cat {path}") is Risk.LOW


@pytest.mark.parametrize(
    "path",
    [
        "packages/a/node_modules/.bin/tsc", "src/.venv/bin/python", "lib/venv/bin/activate",
        "lib/python3.12/site-packages/x.pth", "src/.iex.exs", "src/.ghci", "src/.direnvrc",
    ],
)  # fmt: skip
def test_what_runs_by_itself_is_guarded_below_a_safe_directory_too(path: str) -> None:
    assert judged("Write", file_path=path).risk is Risk.MEDIUM
    assert judged("Read", file_path=path).risk is Risk.LOW
    assert judged("Write", file_path="src/models/net.pth").risk is Risk.LOW


@pytest.mark.parametrize("folder", ["~/.docker", "~/.claude", "~/.codex", "~/.m2", "~/.cargo"])
def test_whoever_reads_all_of_a_folder_reads_the_secrets_in_it(folder: str) -> None:
    path = folder.replace("~", "/home/dev")

    assert bash_risk(f"cp -r {folder} src/d") is Risk.HIGH
    assert bash_risk(f"tar cf - {folder}") is Risk.HIGH
    assert bash_risk(f"grep -r accessToken {folder}") is Risk.HIGH
    assert bash_risk(f"find {folder} -type f -exec cat {{}} +") is Risk.HIGH
    assert judged("Grep", pattern="KEY", path=path, output_mode="content").risk is Risk.HIGH


@pytest.mark.parametrize(
    "command",
    [
        "ls -R ~/.docker", "du -sh ~/.cargo", "find ~/.m2 -name '*.jar'", "fd x ~/.cargo",
        "grep -r foo ~/.cargo/registry", "cat ~/.claude/settings.json", "cp -r .docker src/d",
        "grep -r x .vscode", "find ~/.cargo -name '*.rs' -exec grep -l x {} +",
    ],
)  # fmt: skip
def test_what_lists_it_or_reads_something_else_in_it_is_still_low(command: str) -> None:
    assert bash_risk(command) is Risk.LOW


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        ("ls -la .env", "cat .env"),
        ("ls .env* 2>/dev/null", "ls .env* | xargs cat"),
        ("ls -d .env*", "ls -d .env* | sort | xargs head"),
        ("ls .env", "cat $(ls .env)"),
        ("stat .env", "wc -c .env"),
        ("find . -name '.env*'", "find . -name '.env*' | xargs cat"),
    ],
)
def test_that_the_project_has_a_file_is_no_secret_and_what_is_in_it_is(
    shown: str, read: str
) -> None:
    assert bash_risk(shown) is Risk.LOW
    assert bash_risk(read) is Risk.HIGH


def test_which_secrets_there_are_elsewhere_is_not_listed_unasked() -> None:
    assert bash_risk("ls ~/.ssh") is Risk.MEDIUM
    assert bash_risk("stat ~/.aws/credentials") is Risk.MEDIUM


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("cat locales/en/auth.json", "LOW"),
        ("cat src/i18n/de/password.json", "LOW"),
        ("jq . public/locales/en/auth.json", "LOW"),
        ("cat lang/en/auth.php", "LOW"),
        ("cat auth.json", "HIGH"),
        ("cat config/auth.json", "HIGH"),
        ("cat ../locales/auth.json", "HIGH"),
        ("cat locales/.env", "HIGH"),
        ("openssl genrsa -out tests/fixtures/key.pem 2048", "MEDIUM"),
        (
            "openssl req -x509 -nodes -keyout tests/fixtures/key.pem",
            "MEDIUM",
        ),
        ("openssl genrsa -out config/key.pem 2048", "HIGH"),
        ("openssl genrsa -out tests/fixtures/../../../.ssh/id_rsa 2048", "HIGH"),
        ("ssh-keygen -t ed25519 -N '' -f tests/fixtures/id_test", "MEDIUM"),
        ("ssh-keygen -t ed25519 -N '' -f tests/fixtures/../../../.ssh/id_test", "HIGH"),
        ("ssh-keygen -t ed25519 -N '' -f id_test", "HIGH"),
        ("cat tests/fixtures/key.pem", "MEDIUM"),
        ("cat tests/fixtures/.env", "HIGH"),
        ("cat ../fixtures/key.pem", "HIGH"),
    ],
)
def test_translations_are_no_secrets_and_keys_of_tests_are_less(command: str, risk: str) -> None:
    assert bash_risk(command) == risk
