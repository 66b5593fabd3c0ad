"""What the assistant had said and done before a prompt."""

import json
import os
import time

from perpetualcc.learning.transcript import last_reply
from tests.unit.learning.test_worker import line, seen, work


def test_the_reply_before_the_prompt_is_found(tmp_path):
    path = tmp_path / "t.jsonl"
    said = [("assistant", "one"), ("user", "no, x"), ("assistant", "two")]
    path.write_text(
        "\n".join(json.dumps({"type": who, "message": {"content": text}}) for who, text in said)
    )

    assert last_reply(path, "no, x") == "one"
    assert last_reply(path, "unknown") == "two"
    assert last_reply(tmp_path / "gone", "x") == ""


def test_what_the_assistant_did_since_it_was_spoken_to_is_told_before_what_it_said(tmp_path):
    def use(name, **arguments):
        block = {"type": "tool_use", "name": name, "input": arguments}
        return {"type": "assistant", "message": {"content": [block]}}

    records = [
        {"type": "user", "message": {"content": "look around"}},
        use("Read", file_path="/a/old.py"),
        {"type": "user", "message": {"content": "install it"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "On it."}]}},
        use("Bash", command="npm\n install " + "x" * 500),
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "content": "never use x"}]},
        },
        use("TodoWrite", todos=[1]),
        {"type": "user", "message": {"content": "[Request interrupted by user]"}},
        {"type": "user", "message": {"content": "no, use pnpm"}},
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")

    told = last_reply(path, "no, use pnpm").split("\n")

    assert told[0].startswith("Bash: npm install xxx")
    assert len(told[0]) == 160
    assert told[1:] == ["TodoWrite: ", "On it."]


def test_a_pipe_in_the_place_of_a_transcript_holds_nobody_up(places, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    places.queue.write_bytes(line(tmp_path, transcript_path=str(tmp_path / "pipe")))
    started = time.perf_counter()

    work(places)

    assert seen(places, tmp_path) == 1
    assert time.perf_counter() - started < 10


def test_a_huge_transcript_costs_only_its_tail(tmp_path):
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.truncate(500_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b'\n{"type": "assistant", "message": {"content": "tail"}}\n')
    started = time.process_time()

    assert last_reply(path, "x") == "tail"
    assert time.process_time() - started < 0.5
