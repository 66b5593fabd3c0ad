"""Texts are run together as far as their padding stays small."""

from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.knowledge.embedding.minilm import MAX_TOGETHER, MAX_TOKENS, runs


def test_one_long_text_is_run_alone_and_short_ones_together():
    assert list(runs([256, 10, 128, 12, 100])) == [[1, 3], [4, 2], [0]]


@given(st.lists(st.integers(1, MAX_TOKENS), max_size=60))
def test_every_text_is_run_once_and_no_run_is_too_large(lengths):
    found = list(runs(lengths))

    assert sorted(number for run in found for number in run) == list(range(len(lengths)))
    assert all(len(run) * max(lengths[n] for n in run) <= MAX_TOGETHER for run in found)
