"""
What happened, what works, what is true here (seed 000, Component 8).

Memory advises. It may make a brain surer of its answer; it never lifts a risk class or an
authorization level.
"""

from perpetualcc.memory.episodic import EpisodicMemory, SimilarEpisode
from perpetualcc.memory.procedural import ProceduralMemory, Procedure, exact_trigger, raised
from perpetualcc.memory.semantic import Fact, FactCategory, SemanticMemory

__all__ = [
    "EpisodicMemory",
    "Fact",
    "FactCategory",
    "ProceduralMemory",
    "Procedure",
    "SemanticMemory",
    "SimilarEpisode",
    "exact_trigger",
    "raised",
]
