"""The five demo agents: models, tools, traffic and failure rates."""

from random import Random
from typing import Annotated

from pydantic import BeforeValidator, Field

from spanwise.demo.data import FromData
from spanwise.demo.scripts import Script


class Model(FromData):
    name: str
    provider: str
    first_token_ms: float
    tokens_per_second: float


class Failure(FromData):
    """A failure: OpenTelemetry's `error.type`, the exception class and its message."""

    error: str
    exception: str
    message: str


class Slot(FromData):
    """The values of a placeholder: a prefix, a number of a range and one of the choices."""

    prefix: str = ""
    numbers: tuple[int, int] | None = None
    choices: tuple[str, ...] = ()

    def draw(self, rng: Random) -> str:
        number = rng.randrange(*self.numbers) if self.numbers else ""
        return f"{self.prefix}{number}{rng.choice(self.choices) if self.choices else ''}"


class _Shared(FromData):
    """What the agents share."""

    agents: tuple[str, ...]
    models: tuple[Model, ...]
    failures: dict[str, Failure]
    hours: dict[str, tuple[float, ...]]
    slots: dict[str, Slot]


_SHARED = _Shared.read("fleet")
MODELS = {model.name: model for model in _SHARED.models}
FAILURES = _SHARED.failures
SLOTS = _SHARED.slots

# The files of the agents refer to these by name.
_Model = Annotated[Model, BeforeValidator(MODELS.__getitem__)]
_Failure = Annotated[Failure, BeforeValidator(FAILURES.__getitem__)]
_Hours = Annotated[tuple[float, ...], BeforeValidator(_SHARED.hours.__getitem__)]


class Tool(FromData):
    latency_ms: float
    failure_rate: float
    failure: _Failure


class Rating(FromData):
    """A signal: the share of turns that get one, its mean value, and comments on some values."""

    name: str
    share: float
    mean: float
    # Maximum of an integer scale; 1 for yes or no, 0 for a score between 0 and 1.
    scale: int = 1
    by_session: bool = False
    comments: dict[float, str] = Field(default={})


class Release(FromData):
    """A new version of an agent: its models, and how many times as long its tools take."""

    version: str
    models: dict[_Model, float]
    slower_tools: dict[str, float]


class Screening(FromData):
    """A check of each question by a smaller model, with a prompt template."""

    model: _Model
    template: str
    template_version: str
    topic: str


class AgentProfile(FromData):
    name: str
    description: str
    tags: tuple[str, ...]
    instructions: str
    models: dict[_Model, float]
    tools: dict[str, Tool]
    scripts: tuple[Script, ...]
    ratings: tuple[Rating, ...]
    sessions_per_day: float
    # One weight per hour of the day (UTC), and weekend traffic relative to a workday.
    hours: _Hours
    weekend: float
    users: int
    # Input tokens per call besides the conversation: instructions, tools, documents.
    context_tokens: int
    output_factor: float = 1.0
    model_failure_rate: float = 0.006
    embeds: _Model | None = None
    screens: Screening | None = None
    version: str = "1.4.2"
    release: Release | None = None

    def released(self) -> "AgentProfile":
        """Return the agent after its release."""
        if self.release is None:
            return self
        slower = self.release.slower_tools
        tools = {
            name: tool.model_copy(update={"latency_ms": tool.latency_ms * slower.get(name, 1.0)})
            for name, tool in self.tools.items()
        }
        changes = {"version": self.release.version, "models": self.release.models, "tools": tools}
        return self.model_copy(update={**changes, "release": None})


FLEET = tuple(AgentProfile.read(name) for name in _SHARED.agents)
