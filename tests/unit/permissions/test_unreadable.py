"""What no sandboxed command may read."""

from pathlib import Path

import pytest

from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.unreadable import unreadable


def closed(home: Path, *made: str, credentials: tuple[str, ...] = ()) -> set[str]:
    for name in (*made, "code/app/README.md"):
        path = home / name.rstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.write_text("x")
    settings = PermissionSettings(home=home, credential_paths=credentials)
    return {
        str(path.relative_to(home.resolve())) for path in unreadable(settings, home / "code/app")
    }


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (".ssh/id_rsa", ".ssh"),
        (".aws/credentials", ".aws"),
        (".claude/.credentials.json", ".claude/.credentials.json"),
        (".git-credentials", ".git-credentials"),
        (".config/gh/hosts.yml", ".config/gh"),
        (".pypirc", ".pypirc"),
        (".docker/config.json", ".docker/config.json"),
        (".netlify/config.json", ".netlify"),
        (".perpetualcc/config.toml", ".perpetualcc/config.toml"),
        (".perpetualcc/data/perpetualcc.db", ".perpetualcc/data/perpetualcc.db"),
        (".bash_history", ".bash_history"),
        ("prod.kdbx", "prod.kdbx"),
        (".config/BraveSoftware/x", ".config/BraveSoftware"),
        (
            "Library/Application Support/Google/Chrome/x",
            "Library/Application Support/Google/Chrome",
        ),
    ],
)
def test_the_credentials_of_the_home_that_there_are(tmp_path: Path, made: str, named: str) -> None:
    assert closed(tmp_path) == set()
    assert closed(tmp_path / "home", made) == {named}


def test_what_every_build_reads_stays_readable(tmp_path: Path) -> None:
    needed = (".npmrc", ".m2/settings.xml", ".claude/shell-snapshots/x.sh", ".gitconfig", ".bashrc")

    assert closed(tmp_path, *needed) == set()


def test_what_the_settings_name_is_closed_in_the_project_too(tmp_path: Path) -> None:
    named = (f"{tmp_path}/vault", "~/notes", "*.token", "gone")

    found = closed(tmp_path, "vault/x", "notes/x", "code/app/a.token", credentials=named)

    assert found == {"vault", "notes", "code/app/a.token"}


def test_nothing_around_the_project_and_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / ".kaggle").symlink_to("code")
    (tmp_path / ".pgpass").symlink_to("nowhere")

    found = closed(tmp_path, ".cloudflared/cert.pem", ".ssh/id_rsa")

    assert found == {".cloudflared", ".ssh"}
