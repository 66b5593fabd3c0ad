"""Who has an opinion: the port that every brain fills."""

from dataclasses import dataclass, fields
from typing import Protocol

from perpetualcc.domain.decisions import Advice
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.questions import BrainAnswer, Question, QuestionContext
from perpetualcc.domain.tools import Assessment, ToolCall


class BrainUnavailable(PerpetualError):  # noqa: N818  # the port's name for a state, not a bug
    """Nobody could be asked. Retrying at once will not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainUsage:
    """What a brain has used so far. The rules use nothing."""

    calls: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    """Only what the service itself or a known price says; 0.0 when neither does."""
    own_tokens: int = 0
    """Of these, what the person's own machine worked out, for nothing."""

    @property
    def tokens(self) -> int:
        """What counts against a budget."""
        return self.input_tokens + self.output_tokens - self.own_tokens

    def __add__(self, other: "BrainUsage") -> "BrainUsage":
        """What two have used together."""
        return BrainUsage(
            **{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)}
        )


class Brain(Protocol):
    """
    Anything that can have an opinion.

    A brain has no effects and decides nothing: its answers and advice are weighed by others. All
    methods may be called again after a failure, and concurrently.
    """

    @property
    def name(self) -> str:
        """`none`, `claude`, `gemini` or `ollama`: what decisions are recorded under."""
        ...

    @property
    def usage(self) -> BrainUsage:
        """What it has used since it was made."""
        ...

    async def answer_question(self, question: Question, context: QuestionContext) -> BrainAnswer:
        """
        Choose among the options. A brain that is unsure says so with a low confidence.

        Raises:
            BrainUnavailable: nobody could be asked. Retrying at once will not help.
        """
        ...

    async def evaluate_permission(
        self, call: ToolCall, assessment: Assessment, context: QuestionContext
    ) -> Advice:
        """
        Advise on a tool call of MEDIUM risk. Confidence 0.0: a person must decide.

        Raises:
            BrainUnavailable: nobody could be asked.
        """
        ...

    async def summarize(self, text: str, *, words: int = 120) -> str:
        """
        Say in at most so many words what a text says.

        Raises:
            BrainUnavailable: nobody could be asked.
        """
        ...
