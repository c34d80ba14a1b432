"""Runs one small app per SDK against a fake provider and stores what it exports over OTLP.

    python record.py --envs ENVS [--only VENDOR[/CASE]] [--out ..]

ENVS holds one virtual environment per file in ``requirements/`` and one npm folder per folder
in ``node/`` (see the README beside the goldens). Everything talks to 127.0.0.1 only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import canonical
import provider
from receiver import Receiver

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SNIPPETS = ROOT / "docs" / "snippets"
PB_LIMIT = 60_000
LATEST = "gen_ai_latest_experimental"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@dataclass(frozen=True)
class Case:
    vendor: str
    name: str
    env: str
    app: str
    args: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    protobuf: bool = False  # keep the protobuf body too, one case per vendor
    metrics: bool = False

    @property
    def is_snippet(self) -> bool:
        return self.vendor == "snippets"

    @property
    def source(self) -> Path:
        """The program that is recorded."""
        if self.is_snippet:
            return SNIPPETS / self.app
        return HERE / ("apps" if self.app.endswith(".py") else "node") / self.app

    @property
    def keeps_calls(self) -> bool:
        """Whether what the provider returned is written beside the export."""
        return self.vendor in {"snippets", "recorded"}


CASES: list[Case] = [
    Case("otel-genai", "old-names", "otel", "otel_genai.py", ("chat", "v2"), protobuf=True),
    Case(
        "otel-genai",
        "old-names-content",
        "otel",
        "otel_genai.py",
        ("chat", "v2"),
        {CAPTURE: "true"},
        metrics=True,
    ),
    Case(
        "otel-genai",
        "new-names-span-content",
        "otel",
        "otel_genai.py",
        ("chat", "v2"),
        {"OTEL_SEMCONV_STABILITY_OPT_IN": LATEST, CAPTURE: "SPAN_ONLY"},
    ),
    Case(
        "otel-genai",
        "new-names-event-content",
        "otel",
        "otel_genai.py",
        ("chat", "v2"),
        {"OTEL_SEMCONV_STABILITY_OPT_IN": LATEST, CAPTURE: "EVENT_ONLY"},
        metrics=True,
    ),
    Case("otel-genai", "old-names-errors", "otel", "otel_genai.py", ("errors", "v2")),
    Case(
        "otel-genai",
        "new-names-errors",
        "otel",
        "otel_genai.py",
        ("errors", "v2"),
        {"OTEL_SEMCONV_STABILITY_OPT_IN": LATEST, CAPTURE: "SPAN_ONLY"},
    ),
    Case(
        "otel-genai",
        "genai-openai-chat",
        "otelnew",
        "otel_genai.py",
        ("chat", "genai"),
        {CAPTURE: "span_and_event"},
    ),
    Case(
        "otel-genai",
        "genai-openai-responses",
        "otelnew",
        "otel_genai.py",
        ("responses", "genai"),
        {CAPTURE: "span_only"},
    ),
    Case(
        "otel-genai",
        "genai-openai-errors",
        "otelnew",
        "otel_genai.py",
        ("errors", "genai"),
        {CAPTURE: "event_only"},
    ),
    Case("openinference", "openai", "openinference", "openinference_openai.py", protobuf=True),
    Case("openinference", "langchain-agent", "openinference", "openinference_langchain.py"),
    Case(
        "traceloop", "openai-workflow", "traceloop", "traceloop_app.py", ("openai",), protobuf=True
    ),
    Case(
        "traceloop",
        "anthropic-workflow",
        "traceloop",
        "traceloop_app.py",
        ("anthropic",),
        {"ANTHROPIC_OPEN_TELEMETRY": "false"},
    ),
    # The Anthropic SDK traces itself as well, so each call is reported twice.
    Case(
        "traceloop", "anthropic-twice-instrumented", "traceloop", "traceloop_app.py", ("anthropic",)
    ),
    Case(
        "anthropic-sdk",
        "messages",
        "anthropicsdk",
        "anthropic_sdk.py",
        (),
        {"ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content"},
        protobuf=True,
    ),
    Case("traceloop", "openai-errors", "traceloop", "traceloop_app.py", ("errors",)),
    Case("vercel", "v7-genai", "vercel7", "v7.mjs", ("genai",), protobuf=True),
    Case("vercel", "v7-genai-extras", "vercel7", "v7.mjs", ("extras",)),
    Case("vercel", "v7-legacy", "vercel7", "v7.mjs", ("legacy",)),
    Case("vercel", "v5-experimental-telemetry", "vercel5", "v5.mjs"),
    Case("vercel", "v4-experimental-telemetry", "vercel4", "v4.mjs"),
    Case("pydantic-ai", "logfire-agent", "pydantic", "pydantic_logfire.py", protobuf=True),
    Case("pydantic-ai", "otel-agent-format-2", "pydantic", "pydantic_otel.py"),
    Case("langfuse", "observe", "langfuse", "langfuse_app.py", protobuf=True),
    Case("mlflow", "trace-openai", "mlflow", "mlflow_app.py", protobuf=True),
    Case("mlflow", "trace-root-missing", "mlflow", "mlflow_app.py", ("tags",)),
    Case(
        "mlflow",
        "genai-semconv",
        "mlflow",
        "mlflow_app.py",
        (),
        {"MLFLOW_ENABLE_OTEL_GENAI_SEMCONV": "true"},
    ),
    Case("otel-plain", "python-protobuf", "plain", "plain_python.py", protobuf=True),
    Case("otel-plain", "node-json", "node", "plain.mjs", ("json",)),
    Case("otel-plain", "node-protobuf", "node", "plain.mjs", ("proto",)),
    Case("langsmith", "traceable", "langsmith", "langsmith_app.py"),
    Case("google-adk", "agent", "adk", "adk_app.py", protobuf=True),
    Case(
        "google-adk",
        "agent-content",
        "adk",
        "adk_app.py",
        (),
        {
            "OTEL_SEMCONV_STABILITY_OPT_IN": LATEST,
            "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "true",
            CAPTURE: "SPAN_ONLY",
        },
    ),
    Case("genkit", "flow", "genkit", "genkit.mjs"),
    Case("openinference", "openai-agents", "agents", "openinference_agents.py"),
    Case("laminar", "observe", "laminar", "laminar_app.py"),
]


def recorded(name: str, app: str = "", /, env: str = "", **variables: str) -> Case:
    """One client in its own environment, with the app of the same name."""
    return Case("recorded", name, env or name, app or f"{name}_app.py", variables=variables)


def snippet(name: str, env: str) -> Case:
    """One snippet of the page "Get started", as it is."""
    suffix = "py" if name.endswith("-python") else "ts"
    return Case("snippets", name, env, f"{name}.{suffix}")


CASES += [
    snippet("anthropic-python", "anthropic"),
    snippet("crewai-python", "crewai"),
    snippet("google-genai-python", "genai"),
    snippet("langchain-python", "langgraph"),
    snippet("langgraph-python", "langgraph"),
    snippet("litellm-python", "litellm"),
    snippet("llama-index-python", "llamaindex"),
    snippet("openai-agents-python", "openaiagents"),
    snippet("openai-python", "openai"),
    snippet("opentelemetry-python", "openai"),
    snippet("pydantic-ai-python", "pydanticai"),
    snippet("langchain-typescript", "nodelangchain"),
    snippet("mastra-typescript", "nodemastra"),
    snippet("openai-typescript", "nodeopenai"),
    snippet("opentelemetry-typescript", "nodeopenai"),
    snippet("vercel-ai-typescript", "nodevercel"),
    recorded("ag2"),
    recorded("agentframework"),
    recorded("agno"),
    recorded("autogen"),
    recorded("bedrock"),
    recorded("crewai", CREWAI_TRACING_ENABLED="false", OTEL_SDK_DISABLED="false"),
    recorded("dspy"),
    recorded("genai"),
    recorded("groq"),
    recorded("haystack"),
    recorded("instructor"),
    recorded("langgraph"),
    recorded("litellm", LITELLM_LOCAL_MODEL_COST_MAP="true"),
    recorded("llamaindex"),
    recorded("logfire"),
    recorded("mistral"),
    recorded("openlit"),
    recorded(
        "semantickernel",
        SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE="true",
    ),
    recorded("smolagents"),
    recorded("strands"),
    recorded("nodeagents", "agents.mjs"),
    recorded("nodeanthropic", "anthropic.mjs"),
    recorded("nodelangfuse", "langfuse.mjs"),
    recorded("nodetraceloop", "traceloop.mjs"),
]


def command(case: Case, envs: Path) -> list[str]:
    if not case.app.endswith(".py"):
        # A module finds its packages from where it lies.
        script = envs / case.env / case.app
        shutil.copy(case.source, script)
        return [os.environ.get("NODE", "node"), str(script), *case.args]
    return [str(envs / case.env / "bin" / "python"), str(case.source), *case.args]


def versions(case: Case) -> dict[str, str]:
    """The packages of the environment, which are pinned."""
    if case.app.endswith(".py"):
        lines = (HERE / "requirements" / f"{case.env}.txt").read_text().split()
        return dict(line.split("==") for line in lines)
    package = json.loads((HERE / "node" / f"{case.env}.package.json").read_text())
    return dict(package["dependencies"])


def describe(case: Case) -> dict[str, Any]:
    """What was recorded: the program, the packages, and what the provider returned to it."""
    return {
        "program": str(case.source.relative_to(ROOT)),
        "sha256": hashlib.sha256(case.source.read_bytes()).hexdigest(),
        "packages": versions(case),
        "calls": provider.take_calls(),
    }


def environment(case: Case, receiver_url: str, provider_url: str) -> dict[str, str]:
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONUNBUFFERED": "1",
        "NO_PROXY": "*",
        "OPENAI_API_KEY": "sk-fake",
        "OPENAI_BASE_URL": f"{provider_url}/v1",
        "OPENAI_API_BASE": f"{provider_url}/v1",
        "ANTHROPIC_API_KEY": "sk-ant-fake",
        "ANTHROPIC_BASE_URL": provider_url,
        "GEMINI_API_KEY": "fake",
        "GOOGLE_GEMINI_BASE_URL": provider_url,
        "MODEL_SERVER": provider_url,
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": provider_url,
        "AWS_ACCESS_KEY_ID": "fake",
        "AWS_SECRET_ACCESS_KEY": "fake",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "RECEIVER_URL": receiver_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver_url,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_SERVICE_NAME": "weather-assistant",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=staging,service.version=1.4.0",
    }
    return variables | case.variables


def record(case: Case, envs: Path, out: Path) -> bool:
    receiver = Receiver().start()
    server = provider.start()
    started = time.monotonic()
    try:
        result = subprocess.run(
            command(case, envs),
            check=False,
            env=environment(
                case,
                f"http://127.0.0.1:{receiver.server_port}",
                f"http://127.0.0.1:{server.server_port}",
            ),
            cwd=envs / case.env,
            capture_output=True,
            text=True,
            timeout=180,
        )
    finally:
        receiver.shutdown()
        server.shutdown()
    exports = receiver.take()
    folder = out / case.vendor
    folder.mkdir(parents=True, exist_ok=True)
    counts: list[str] = []
    for signal in ("traces", "logs", "metrics"):
        chosen = [export for export in exports if export.signal == signal]
        if not chosen or (signal == "metrics" and not case.metrics):
            continue
        document, raw = canonical.merge(signal, chosen)
        clean = canonical.scrub(document)
        if case.keeps_calls:
            clean = canonical.shorten(clean)
        text = canonical.dump(clean)
        (folder / f"{case.name}.{signal}.json").write_text(text)
        if case.protobuf and signal == "traces" and raw:
            body = raw if clean == document else canonical.to_protobuf(signal, clean)
            if len(body) < PB_LIMIT:
                (folder / f"{case.name}.{signal}.pb").write_bytes(body)
        counts.append(f"{signal}: {len(chosen)} requests, {len(text)} characters")
    if case.keeps_calls:
        recording = canonical.dump(describe(case))
        (folder / f"{case.name}.recording.json").write_text(recording)
    seconds = time.monotonic() - started
    good = result.returncode == 0 and bool(counts)
    print(
        f"{'ok  ' if good else 'FAIL'} {case.vendor}/{case.name} {seconds:.1f}s", *counts, sep=" | "
    )
    if paths := sorted({export.path for export in exports}):
        print("     sent to", *paths)
    if not good:
        print(result.stdout[-2000:], result.stderr[-4000:], sep="\n")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--envs", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=HERE.parent)
    parser.add_argument("--only", default="", help="a vendor, or vendor/case; several with commas")
    options = parser.parse_args()
    wanted = tuple(options.only.split(","))
    chosen = [c for c in CASES if f"{c.vendor}/{c.name}".startswith(wanted)]
    results = [record(case, options.envs.resolve(), options.out.resolve()) for case in chosen]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
