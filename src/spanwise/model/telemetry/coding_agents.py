"""Coding agents: how their telemetry is recognized, and what is reported about their use."""

from dataclasses import dataclass
from enum import StrEnum

from spanwise.model.api_model import ApiModel, UtcTime


@dataclass(frozen=True)
class CodingAgent:
    """An agent, by the beginning of its service name and of its metrics' names."""

    name: str
    services: tuple[str, ...]
    prefixes: tuple[str, ...]


AGENTS = (
    CodingAgent("Claude Code", ("claude-code",), ("claude_code.",)),
    CodingAgent("Codex", ("codex",), ("codex.",)),
    CodingAgent("Gemini CLI", ("gemini-cli",), ("gemini_cli.",)),
    CodingAgent("Copilot", ("copilot", "github-copilot"), ("copilot_chat.", "github.copilot.")),
    CodingAgent("Cursor", ("cursor",), ("cursor.",)),
)

# Where senders put the same thing, the most specific one first.
PERSON_KEYS = ("user.email", "user.name", "user.id", "user.account_id", "user.account_uuid")
REPOSITORY_KEYS = (
    *("vcs.repository.name", "vcs.repository.url.full", "github.copilot.git.repository"),
    *("git.repository", "git.repository.url", "repository", "repo", "project", "project.name"),
    *("working_directory", "cwd"),
)
LANGUAGE_KEYS = ("language", "programming_language", "copilot_chat.language_id", "language_id")
DECISION_KEYS = ("decision", "copilot_chat.edit.outcome")
LINE_TYPE_KEYS = ("type", "copilot_chat.lines_of_code.type")
TOKEN_TYPE_KEYS = ("type", "token_type")
# Says who pays, where the agent does not: `subscription` or `api`.
BILLING_KEY = "spanwise.billing"
# How Gemini CLI and Codex were signed in to.
SUBSCRIPTION_LOGINS = ("oauth-personal", "login-with-google", "cloud-shell", "chatgpt")
API_LOGINS = ("gemini-api-key", "vertex-ai", "apikey", "api-key", "api_key")
# Sold by subscription only.
SUBSCRIPTION_AGENTS = ("Copilot", "Cursor")

ACCEPTED = ("accept", "auto_accept", "modify", "accepted", "saved")
REJECTED = ("reject", "rejected", "deny")
# These tools of Gemini CLI change files.
EDIT_TOOLS = ("replace", "edit", "write_file")


class Measure(StrEnum):
    LINES = "lines"
    COMMITS = "commits"
    PULL_REQUESTS = "pull_requests"
    ACTIVE_SECONDS = "active_seconds"
    EDITS = "edits"
    COST = "cost"
    TOKENS = "tokens"
    SESSIONS = "sessions"


METRICS: dict[str, Measure] = {
    "claude_code.lines_of_code.count": Measure.LINES,
    "gemini_cli.lines.changed": Measure.LINES,
    "copilot_chat.lines_of_code.count": Measure.LINES,
    "claude_code.commit.count": Measure.COMMITS,
    "claude_code.pull_request.count": Measure.PULL_REQUESTS,
    "copilot_chat.pull_request.count": Measure.PULL_REQUESTS,
    "claude_code.active_time.total": Measure.ACTIVE_SECONDS,
    "claude_code.code_edit_tool.decision": Measure.EDITS,
    "copilot_chat.edit.acceptance.count": Measure.EDITS,
    "gemini_cli.tool.call.count": Measure.EDITS,
    "claude_code.cost.usage": Measure.COST,
    "claude_code.token.usage": Measure.TOKENS,
    "codex.turn.token_usage": Measure.TOKENS,
    "gemini_cli.token.usage": Measure.TOKENS,
    "claude_code.session.count": Measure.SESSIONS,
    "codex.thread.started": Measure.SESSIONS,
    "gemini_cli.session.count": Measure.SESSIONS,
    "copilot_chat.session.count": Measure.SESSIONS,
}
# What the spans of calls report too, and more exactly.
USAGE = frozenset({Measure.COST, Measure.TOKENS, Measure.SESSIONS})
USAGE_METRICS = tuple(name for name, measure in METRICS.items() if measure in USAGE)
# The parts of a token count: input, of which cached and written to the cache, and output.
INPUT, CACHED, CACHE_WRITE, OUTPUT = "input", "cached", "cache_write", "output"
# Claude Code reports disjoint parts of the input, the others the whole input and its cached part;
# Gemini CLI reports thoughts beside the output.
TOKEN_PARTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("claude_code.token.usage", "input"): (INPUT,),
    ("claude_code.token.usage", "cacheRead"): (INPUT, CACHED),
    ("claude_code.token.usage", "cacheCreation"): (INPUT, CACHE_WRITE),
    ("claude_code.token.usage", "output"): (OUTPUT,),
    ("codex.turn.token_usage", "input"): (INPUT,),
    ("codex.turn.token_usage", "cached_input"): (CACHED,),
    ("codex.turn.token_usage", "output"): (OUTPUT,),
    ("gemini_cli.token.usage", "input"): (INPUT,),
    ("gemini_cli.token.usage", "cache"): (CACHED,),
    ("gemini_cli.token.usage", "output"): (OUTPUT,),
    ("gemini_cli.token.usage", "thought"): (OUTPUT,),
}


class Billing(StrEnum):
    SUBSCRIPTION = "subscription"
    API = "api"
    UNKNOWN = "unknown"


class UsageSource(StrEnum):
    """Where cost and tokens come from; `metrics` only for sessions that sent no calls."""

    CALLS = "calls"
    METRICS = "metrics"
    BOTH = "both"
    NONE = "none"


class Usage(ApiModel):
    """US dollars and tokens. `cacheHitRatio` is the cached share of the input."""

    cost: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cache_hit_ratio: float | None = None
    sessions: int = 0
    traces: int = 0


class Work(ApiModel):
    """What the agents' metrics report; 0 when they were not sent."""

    lines_added: int = 0
    lines_removed: int = 0
    commits: int = 0
    pull_requests: int = 0
    active_seconds: float = 0.0
    edits_accepted: int = 0
    edits_rejected: int = 0


class CodingTotals(Usage, Work):
    people: int = 0


class AgentUsage(Usage, Work):
    agent: str
    source: UsageSource


class PersonUsage(Usage, Work):
    person: str


class RepositoryUsage(Usage, Work):
    repository: str


class ModelUsage(ApiModel):
    model: str
    cost: float
    input_tokens: int
    output_tokens: int


class BillingShare(ApiModel):
    """`share` is part of the whole cost, from 0 to 1."""

    billing: Billing
    cost: float
    share: float


class CodingDay(ApiModel):
    date: str
    cost: float
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_by_agent: dict[str, float]


class LanguageEdits(ApiModel):
    language: str
    accepted: int
    rejected: int


class CodingSession(ApiModel):
    session_id: str
    agent: str
    person: str | None
    repository: str | None
    first_at: UtcTime
    last_at: UtcTime
    traces: int
    tool_calls: int
    total_tokens: int
    cost: float
    input_preview: str


class CodingAgentsReport(ApiModel):
    """Use of coding agents in a period. `notSent` names what no agent has sent."""

    totals: CodingTotals
    agents: list[AgentUsage]
    people: list[PersonUsage]
    repositories: list[RepositoryUsage]
    models: list[ModelUsage]
    billing: list[BillingShare]
    days: list[CodingDay]
    edits: list[LanguageEdits]
    sessions: list[CodingSession]
    not_sent: list[str]
