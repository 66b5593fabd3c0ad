"""Fixtures for tests that use the product as a user does."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.acceptance.supervised import Supervised, supervised
from tests.conftest import ClaudeWorld, Rehearse

Install = Callable[..., Supervised]


@pytest.fixture
def install(rehearsal: Rehearse, claude_world: ClaudeWorld, tmp_path) -> Iterator[Install]:
    """`install(scenario_text)`: PerpetualCC in a world where Claude plays that scenario."""
    with ExitStack() as stack:

        def make(scenario, *flags: str, **signed_in_as: bool) -> Supervised:
            server = rehearsal(scenario)
            environment = claude_world.environment(server, **signed_in_as)
            import os

            base = dict(os.environ.items())
            return stack.enter_context(
                supervised(tmp_path, {**base, **environment}, claude_world.project, *flags)
            )

        yield make
