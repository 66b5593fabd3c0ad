"""Bytes become text with the lines an editor shows, or are known to be no text."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.knowledge.scan.reading import decode, read_file

NO_TEXTS = ("nonsense", "hex", "rot13", "idna", "punycode", "undefined", "utf-8", "UTF_8")
"""What a file may declare, and no text of these bytes comes of it."""
DECODED = [
    (b"a\r\nb\rc\n", "a\nb\nc\n"),
    ("grün".encode(), "grün"),
    (b"\xef\xbb\xbfa", "a"),
    ("grün\n".encode("utf-16"), "grün\n"),
    ("grün".encode("cp1252"), "grün"),
    (b"# coding: koi8-r\n" + "\u0434".encode("koi8-r"), "# coding: koi8-r\n\u0434"),
    *((f"# coding: {name}\n\xfc".encode("cp1252"), f"# coding: {name}\nü") for name in NO_TEXTS),
    (b"\x7fELF\x00\x00", None),
    (b"", ""),
]


@pytest.mark.parametrize(("data", "text"), DECODED)
def test_each_encoding_is_recognised(data, text):
    assert decode(data) == text


@given(st.binary(max_size=400))
def test_any_bytes_decode_or_are_binary(data):
    text = decode(data)

    assert text is None or "\r" not in text


def test_a_link_and_a_pipe_are_not_read(tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")

    for name in ("link", "pipe", "missing"):
        with pytest.raises(OSError, match=name):
            read_file(tmp_path / name)


def test_the_stamp_is_from_before_the_bytes_were_read(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    os.utime(file, ns=(5, 1_000_000_007))

    read = read_file(file)

    assert (read.stamp.mtime_ns, read.stamp.size, read.text) == (1_000_000_007, 6, "x = 1\n")
