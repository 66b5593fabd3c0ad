"""Fixtures for tests that use the product as a user does."""

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from perpetualcc.domain.locations import Locations
from perpetualcc.rehearsal import RehearsalServer
from tests.acceptance.supervised import Supervised, supervised
from tests.conftest import ClaudeWorld, Rehearse

Install = Callable[..., Supervised]


@pytest.fixture(scope="session")
def canary(tmp_path_factory) -> Path:
    """What the canary remembers once it has passed; flown once for all tests, for real."""
    from perpetualcc.claude.binary import bundled_claude
    from perpetualcc.daemon.canary import Canary

    locations = Locations(data=tmp_path_factory.mktemp("canary")).prepare()
    asyncio.run(Canary(locations).check(bundled_claude()))
    return locations.run_dir / "canary.json"


@pytest.fixture
def install(
    rehearsal: Rehearse, claude_world: ClaudeWorld, tmp_path: Path, canary: Path
) -> Iterator[Install]:
    """`install(scenario_text)`: PerpetualCC in a world where Claude plays that scenario."""
    with ExitStack() as stack:

        def make(
            scenario,
            *flags: str,
            server_of: Callable[..., RehearsalServer] = RehearsalServer,
            **signed_in_as: bool,
        ) -> Supervised:
            server = rehearsal(scenario, server_of=server_of)
            environment = {**os.environ, **claude_world.environment(server, **signed_in_as)}
            pcc = stack.enter_context(
                supervised(tmp_path, environment, claude_world.project, *flags)
            )
            pcc.locations.prepare()
            shutil.copy(canary, pcc.locations.run_dir)
            return pcc

        yield make
