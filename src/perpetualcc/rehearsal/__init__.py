"""
A scripted Claude model on loopback: the demo, the tests and the benchmarks play it.

The real Claude Code binary talks to it as if to the Messages API, so tools run, files change
and sessions resume, and no token is spent. It decides nothing: a scenario says every word.
"""

from perpetualcc.rehearsal.reader import load_scenario, read_scenario, shipped_scenario
from perpetualcc.rehearsal.scenario import Scenario
from perpetualcc.rehearsal.server import RehearsalServer
from perpetualcc.rehearsal.world import (
    World,
    claude_environment,
    isolated_world,
    lay_out_files,
)

__all__ = [
    "RehearsalServer",
    "Scenario",
    "World",
    "claude_environment",
    "isolated_world",
    "lay_out_files",
    "load_scenario",
    "read_scenario",
    "shipped_scenario",
]
