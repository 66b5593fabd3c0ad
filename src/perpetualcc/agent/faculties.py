"""What the agent works with, and how patient it is."""

from dataclasses import dataclass, field
from datetime import timedelta

from perpetualcc.agent.handover.handovers import Handovers
from perpetualcc.agent.ports import (
    Answerer,
    Checkpoints,
    Claudes,
    Gatekeeper,
    Journal,
    Meter,
    People,
    Words,
)
from perpetualcc.domain.clock import Clock
from perpetualcc.sessions.rate_limit import RateLimitMonitor
from perpetualcc.sessions.stuck import StuckSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """How patient the agent is."""

    hold: timedelta = timedelta(minutes=5)
    """How long a running Claude is kept waiting for a person. After that the run ends and the
    session waits as a row, for days if need be."""
    stuck: StuckSettings = field(default_factory=StuckSettings)
    waits_unattended: bool = False
    """A call that needs a person waits for one even while nobody is attached."""
    answers_alone: bool = True
    """`brain.auto_answer`: what the brain is sure of needs nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Faculties:
    """What the agent works with; `daemon.parts` puts it together."""

    claudes: Claudes
    journal: Journal
    gatekeeper: Gatekeeper
    answerer: Answerer
    people: People
    words: Words
    clock: Clock
    steady: Clock
    """For how long a run works: a machine that was asleep did not."""
    limits: RateLimitMonitor
    checkpoints: Checkpoints
    meter: Meter
    handovers: Handovers
