"""Settings of the brains (seed 000, Configuration File)."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum

from perpetualcc.domain.addresses import check_address
from perpetualcc.domain.errors import PerpetualError


class BrainType(StrEnum):
    """Who has the opinion."""

    NONE = "none"
    """Rules, without AI."""
    CLAUDE = "claude"
    GEMINI = "gemini"
    OLLAMA = "ollama"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeSettings:
    """Claude itself, through the account or key that Claude Code uses."""

    model: str = "haiku"
    """The cheapest that suits; any name or alias that Claude Code knows."""
    timeout: timedelta = timedelta(seconds=60)
    """How long to wait for one answer."""
    max_budget_usd: float = 0.05
    """For one answer; above 0."""

    def __post_init__(self) -> None:
        if self.max_budget_usd <= 0:
            raise PerpetualError(
                f"'brain.claude.max_budget_usd' is {self.max_budget_usd:g}; no answer would come",
                hint="pcc config set brain.claude.max_budget_usd 0.05",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiSettings:
    """Google's Gemini API; needs `perpetualcc[gemini]`."""

    api_key: str = field(default="env:GEMINI_API_KEY", repr=False)
    """`env:NAME`, `keyring:NAME` or the key itself. Never shown."""
    model: str = "gemini-2.0-flash"
    """Any model of that API."""
    base_url: str = ""
    """Of another server that speaks the same; empty for Google's."""
    timeout: timedelta = timedelta(seconds=30)
    """How long to wait for one answer."""

    def __post_init__(self) -> None:
        if self.base_url:
            check_address("brain.gemini.base_url", self.base_url, "https://host")


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaSettings:
    """A model on this machine or in this house; needs `perpetualcc[ollama]`."""

    host: str = "http://localhost:11434"
    """Where Ollama answers."""
    model: str = ""
    """Such as `deepseek-coder:33b`; there is no default."""
    timeout: timedelta = timedelta(seconds=120)
    """Local models may have to be loaded first."""

    def __post_init__(self) -> None:
        check_address("brain.ollama.host", self.host, "http://localhost:11434", scheme_needed=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainSettings:
    """Which brain a session has, and how sure it must be."""

    type: BrainType = BrainType.NONE
    """Who answers for sessions that do not say `--brain`; a session keeps what it began with."""
    confidence_threshold: float = 0.7
    """Answers below it go to a person; 0 to 1. A session keeps what it began with."""
    auto_answer: bool = True
    """Off: every question goes to a person, with the brain's suggestion."""
    second: str = ""
    """Who is asked what the brain is not sure of, before a person is: a brain, or a brain and a
    model of it, such as `claude:opus`. Empty for nobody."""
    claude: ClaudeSettings = field(default_factory=ClaudeSettings)
    gemini: GeminiSettings = field(default_factory=GeminiSettings)
    ollama: OllamaSettings = field(default_factory=OllamaSettings)

    def __post_init__(self) -> None:
        if not 0 <= self.confidence_threshold <= 1:
            raise PerpetualError(
                f"'brain.confidence_threshold' is {self.confidence_threshold:g};"
                " it is between 0 and 1",
                hint="pcc config set brain.confidence_threshold 0.7",
            )
        if self.second and self.second.partition(":")[0] not in set(BrainType) - {BrainType.NONE}:
            raise PerpetualError(
                f"'brain.second' is {self.second!r}, which names no brain",
                hint="pcc config set brain.second claude:opus",
            )

    def of_model(self, model: str) -> "BrainSettings":
        """The same brain, with another model of it; an empty one changes nothing."""
        if not model or self.type is BrainType.NONE:
            return self
        name = self.type.value
        return replace(self, **{name: replace(getattr(self, name), model=model)})

    def second_brain(self) -> "BrainSettings":
        """The brain that is asked when this one is not sure; of the type NONE if there is none."""
        nobody = replace(self, type=BrainType.NONE)
        if self.type is BrainType.NONE or not self.second:
            return nobody
        name, _, model = self.second.partition(":")
        other = replace(self, type=BrainType(name)).of_model(model)
        return nobody if other == self else other
