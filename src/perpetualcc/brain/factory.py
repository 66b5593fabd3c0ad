"""From settings to a brain, always with the rules behind it."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import assert_never

from perpetualcc.brain.completion import Complete
from perpetualcc.brain.fallback import FallbackBrain
from perpetualcc.brain.gemini import GeminiCompletion
from perpetualcc.brain.keys import resolve_key
from perpetualcc.brain.model_brain import ModelBrain
from perpetualcc.brain.ollama import OllamaCompletion
from perpetualcc.brain.port import Brain
from perpetualcc.brain.rule_based import Parse, RuleBasedBrain
from perpetualcc.brain.settings import BrainSettings, BrainType, ClaudeSettings

OpenClaude = Callable[[ClaudeSettings], Complete]
"""Makes Claude a `Complete`: `perpetualcc.claude.completion.ClaudeCompletion`."""


def open_brain(
    settings: BrainSettings,
    *,
    parse: Parse,
    environment: Mapping[str, str],
    open_claude: OpenClaude,
) -> Brain:
    """
    The brain that settings name, with the one that is asked when it is not sure.

    Raises:
        PerpetualError: a package, a key or a model is missing; the hint says what to type.
    """
    rules = RuleBasedBrain(parse)
    first, second = (
        open_model(one, name=name, environment=environment, open_claude=open_claude)
        for one, name in ((settings, ""), (settings.second_brain(), settings.second))
    )
    if first is None:
        return rules
    brains = (first,) if second is None else (first, second)
    return FallbackBrain(brains, rules, threshold=settings.confidence_threshold)


def open_model(
    settings: BrainSettings,
    *,
    environment: Mapping[str, str],
    open_claude: OpenClaude,
    patience: timedelta = timedelta.max,
    name: str = "",
) -> ModelBrain | None:
    """
    The model that settings name, with nothing behind it; None for the rules.

    It is given up after its own timeout, or after `patience` if that is shorter, and is called as
    its service is, or by `name`.

    Raises:
        PerpetualError: a package, a key or a model is missing; the hint says what to type.
    """
    if settings.type is BrainType.NONE:
        return None
    service = _service(settings, environment, open_claude)
    timeout = min(patience, getattr(settings, settings.type.value).timeout)
    return ModelBrain(name or settings.type.value, service, timeout=timeout)


def check_brain(
    settings: BrainSettings, *, environment: Mapping[str, str], open_claude: OpenClaude
) -> None:
    """
    Verify that the services and models answer, the second brain's, too. Not for callers inside a
    running loop.

    Raises:
        PerpetualError: they do not; the hint says what to do.
    """
    for one in (settings, settings.second_brain()):
        if one.type is not BrainType.NONE:
            asyncio.run(_service(one, environment, open_claude).check())


def _service(
    settings: BrainSettings, environment: Mapping[str, str], open_claude: OpenClaude
) -> Complete:
    match settings.type:
        case BrainType.CLAUDE:
            return open_claude(settings.claude)
        case BrainType.GEMINI:
            key = resolve_key(settings.gemini.api_key, environment, setting="The Gemini key")
            return GeminiCompletion(settings.gemini, key)
        case BrainType.OLLAMA:
            return OllamaCompletion(settings.ollama)
        case BrainType.NONE:
            raise ValueError("the rules are no service")
        case _:
            assert_never(settings.type)
