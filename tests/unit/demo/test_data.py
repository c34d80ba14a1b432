"""The data files of the demo: what they refer to exists, and each file is read."""

import re
from importlib.resources import files

import pytest
from pydantic import ValidationError

from spanwise.demo.alerts import ALERTS
from spanwise.demo.coding_agents import DATA
from spanwise.demo.dashboards import DemoDashboards
from spanwise.demo.experiments import EXPERIMENT_AGENT, Plans
from spanwise.demo.fleet import FLEET, SLOTS, AgentProfile, Model
from spanwise.demo.scripts import Exchange, fill_slots
from spanwise.demo.timeline import FLIGHTS_AGENT, INCIDENT_AGENT, LAYOUT_AGENT

AGENTS = {agent.name for agent in FLEET}
FOLDER = files("spanwise.demo.data")
READ_BY_NAME = {"fleet", "alerts", "coding-agents", "dashboards", "experiments"}


def exchanges(agent: AgentProfile) -> list[Exchange]:
    return [exchange for script in agent.scripts for exchange in script.exchanges]


def test_each_file_is_an_agent_of_the_fleet_or_read_by_name() -> None:
    names = {
        one.name.removesuffix(".toml") for one in FOLDER.iterdir() if one.name.endswith(".toml")
    }
    assert names == AGENTS | READ_BY_NAME


def test_an_unknown_field_is_refused() -> None:
    fields = {"name": "m", "provider": "p", "first_token_ms": 1, "tokens_per_second": 1}
    assert Model.model_validate(fields).first_token_ms == 1
    with pytest.raises(ValidationError, match="first_token_seconds"):
        Model.model_validate({**fields, "first_token_seconds": 1})


@pytest.mark.parametrize("agent", FLEET, ids=lambda agent: agent.name)
def test_agents_call_tools_that_they_have(agent: AgentProfile) -> None:
    called = {call.tool for one in exchanges(agent) for calls in one.rounds for call in calls}
    assert called == agent.tools.keys()
    assert len(agent.hours) == 24
    if agent.release is not None:
        assert agent.release.slower_tools.keys() <= agent.tools.keys()


@pytest.mark.parametrize("agent", FLEET, ids=lambda agent: agent.name)
def test_every_placeholder_has_values(agent: AgentProfile) -> None:
    texts = "".join(one.model_dump_json() for one in exchanges(agent))
    assert set(re.findall(r"\{(\w+)\}", texts)) <= SLOTS.keys()


def test_rules_notes_and_experiments_refer_to_agents() -> None:
    assert {INCIDENT_AGENT, FLIGHTS_AGENT, LAYOUT_AGENT, EXPERIMENT_AGENT} <= AGENTS
    assert ALERTS.rules.keys() | ALERTS.notes.keys() <= AGENTS
    plans = Plans.read("experiments")
    assert {plan.agent_id for plan in (plans.finished, plans.running, plans.draft)} <= AGENTS


def test_developers_use_agents_that_are_described_and_models_with_a_price() -> None:
    for developer in DATA.developers:
        call = DATA.agents[developer.agent].call
        assert ("cost_usd" in call.attributes) == (developer.model in DATA.prices)


def test_dashboards_have_panels() -> None:
    demo = DemoDashboards.read("dashboards")
    assert all(dashboard.panels for dashboard in demo.dashboards)
    assert {view["page"] for view in demo.views} == {"traces", "sessions"}


def test_a_lone_placeholder_keeps_the_type_of_its_value() -> None:
    filled = fill_slots({"tokens": "{n}", "text": ["{n} of {m}"]}, {"n": 3})
    assert filled == {"tokens": 3, "text": ["3 of {m}"]}
