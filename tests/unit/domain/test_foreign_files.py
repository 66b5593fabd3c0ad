"""Files that anybody may have put there."""

import os

import pytest

from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.learning.files import read_json
from perpetualcc.permissions.trust import servers_above

pytestmark = pytest.mark.timeout(10)


def test_of_a_regular_file_as_much_as_wanted_is_read_also_behind_a_link(tmp_path):
    (tmp_path / "file").write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("file")

    assert read_regular(tmp_path / "link") == b"0123456789"
    assert read_regular(tmp_path / "file", 4) == b"0123"


@pytest.mark.parametrize(
    "make",
    [
        os.mkfifo,
        os.mkdir,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(path.name),
    ],
    ids=["pipe", "folder", "endless", "loop"],
)
def test_what_is_no_file_is_none(tmp_path, make):
    project = tmp_path / "project"
    project.mkdir()
    make(tmp_path / ".mcp.json")

    with pytest.raises(OSError, match=r"\.mcp\.json"):
        read_regular(tmp_path / ".mcp.json")
    assert read_json(tmp_path / ".mcp.json") is None
    assert servers_above(project, {}) == ()
