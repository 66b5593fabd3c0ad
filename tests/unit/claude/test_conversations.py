"""Which conversations with Claude Code there are, whatever lies where they are kept."""

import json
import os
import uuid

import pytest

from perpetualcc.claude.conversations import begun_in, conversation_of, is_conversation


@pytest.fixture
def world(tmp_path):
    project = tmp_path / "a project"
    project.mkdir()
    folder = tmp_path / "claude" / "projects" / "-a-project"
    folder.mkdir(parents=True)
    return project, folder, {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}


def written(folder, project, *texts, at=None, name=None, before=()):
    name = name or str(uuid.uuid4())
    records = [*before, *(user(project, text) for text in texts)]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    if at is not None:
        os.utime(path, (at, at))
    return name


def user(project, text):
    return {"type": "user", "cwd": str(project), "message": {"role": "user", "content": text}}


def test_the_one_used_last_comes_first_and_those_of_other_folders_do_not(world, tmp_path):
    project, folder, environment = world
    old = written(folder, project, "The first", at=1000)
    new = written(folder, project, "The second", at=2000)
    written(folder, tmp_path, "Elsewhere", at=3000)

    found = list(begun_in(project, environment))

    assert [(one.id, one.words, one.used_at) for one in found] == [
        (new, "The second", 2000),
        (old, "The first", 1000),
    ]
    assert found[0].folder == project


def test_what_claude_code_says_in_ones_name_is_not_ones_words(world):
    project, folder, environment = world
    meta = user(project, "Caveat: the messages below …") | {"isMeta": True}
    blocks = user(project, [{"type": "tool_result"}, {"type": "text", "text": "Look at this"}])
    picture = user(project, [{"type": "image"}])
    name = written(
        folder, project, before=(meta, user(project, "<command-name>/clear"), picture, blocks)
    )

    assert conversation_of(name, environment).words == "Look at this"


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\x00\xff" * 1000,
        b"[" * 100_000,
        b'{"type":"user"}\n',
        b'{"cwd":"/tmp"}\n{"type":"assistant"}\n',
        b'["type","user"]\n',
    ],
)
def test_garbage_is_no_conversation_and_keeps_no_other_from_being_found(world, garbage):
    project, folder, environment = world
    (folder / f"{uuid.uuid4()}.jsonl").write_bytes(garbage)
    os.mkfifo(folder / f"{uuid.uuid4()}.jsonl")
    (folder / f"{uuid.uuid4()}.jsonl").symlink_to("/nowhere")
    (folder / f"{uuid.uuid4()}.jsonl").mkdir()
    name = written(folder, project, "Hello")

    assert [one.id for one in begun_in(project, environment)] == [name]


def test_only_an_id_as_claude_code_gives_them_becomes_part_of_a_path(world):
    project, folder, environment = world
    written(folder, project, "Hello", name="agent-1234")
    written(folder.parent, project, "Hello", name=str(uuid.uuid4()))

    assert conversation_of("*", environment) is None
    assert conversation_of("../x", environment) is None
    assert list(begun_in(project, environment)) == []
    assert not is_conversation("A" * 8)
    assert not is_conversation("urn:uuid:12345678-1234-5678-1234-567812345678")
    assert is_conversation("12345678-1234-5678-1234-567812345678")


def test_a_link_to_the_folder_is_the_folder(world, tmp_path):
    project, folder, environment = world
    (tmp_path / "link").symlink_to(project)
    name = written(folder, project, "Hello")

    assert [one.id for one in begun_in(tmp_path / "link", environment)] == [name]
