"""Measures the results of an experiment with a million units.

Runs in a separate process, because a process can open the embedded engine only once.
"""

import asyncio
import json
import sys
import time
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.api.requests.experiments import NewExperiment
from spanwise.api.services import Services
from spanwise.cli.log_setup import configure_logs
from spanwise.model.accounts import Principal
from spanwise.model.api_model import utc_now
from spanwise.model.experiments.definition import Experiment
from spanwise.settings import load_settings
from spanwise.wiring.services import open_services

ROUNDS = 5
DAYS = 7

# Every unit was exposed within the week and has one trace.
EXPOSURES = """
INSERT INTO exposures (workspace, experiment_id, unit_id, first_at, least_variant, greatest_variant)
SELECT {workspace:String}, {experiment:String}, concat('user-', toString(number)),
    now64(9) - toIntervalSecond(3600 + intHash64(number) % ({days:UInt32} * 86400 - 7200)) AS at,
    intHash32(number) % 2 AS place, place
FROM numbers({units:UInt64})"""
TRACES = """
INSERT INTO traces (workspace, start, trace_id, version, name, agent_name, status, error_type,
    duration_ns, span_count, input_tokens, output_tokens, cost, user_id)
SELECT {workspace:String},
    now64(9) - toIntervalSecond(intHash64(number) % ({days:UInt32} * 86400 - 7200)),
    MD5(toString(number)), number + 1, 'run', 'agent', if(rand(3) % 3 = 0, 'error', 'success'), '',
    toUInt64(1e6 * exp(6 + randNormal(0, 0.5))), 8, rand(5) % 9000, rand(6) % 900,
    (rand(7) % 10000) / 100000, concat('user-', toString(number))
FROM numbers({units:UInt64})"""


async def measure_results(folder: Path, units: int) -> dict[str, Any]:
    settings = load_settings(data_dir=folder, otlp_grpc_port=0, log_level="error")
    configure_logs(settings)
    async with open_services(settings) as services:
        caller, experiment = await _fill(services, units)
        costs = []
        for _ in range(ROUNDS):
            wall, processor = time.perf_counter(), time.process_time()
            results = await services.experimentation.results.get(caller.workspace_id, experiment)
            costs.append((time.perf_counter() - wall, time.process_time() - processor))
        if results.units != units or results.metrics[0].variants[0].mean is None:
            raise RuntimeError(f"{results.units} units of {units} were counted")
        seconds, cpu_seconds = sorted(costs)[ROUNDS // 2]
        return {"units": units, "seconds": seconds, "cpu_seconds": cpu_seconds}


async def _fill(services: Services, units: int) -> tuple[Principal, Experiment]:
    email, password = "bench@example.com", "correct horse battery"
    await services.identity.accounts.register(email, password, "Bench", None)
    sign_in = await services.identity.accounts.login(email, password, None)
    caller = await services.identity.access.by_token(sign_in.token)
    body = NewExperiment.model_validate({"name": "bench", "variants": [{"key": "a"}, {"key": "b"}]})
    made = await services.experimentation.experiments.create(caller, body.to_fields())
    running = await services.experimentation.experiments.start(caller, made.id, None)
    started = running.model_copy(update={"started_at": utc_now() - timedelta(days=DAYS)})
    bound = {
        "workspace": caller.workspace_id,
        "experiment": started.id,
        "days": DAYS,
        "units": units,
    }
    for sql in (EXPOSURES, TRACES):
        await services.engine.run(partial(_command, sql, bound))
    return caller, started


def _command(sql: str, bound: dict[str, Any], client: Client) -> None:
    client.command(sql, parameters=bound)


if __name__ == "__main__":
    outcome = asyncio.run(measure_results(Path(sys.argv[1]), int(sys.argv[2])))
    sys.stdout.write(json.dumps(outcome))
