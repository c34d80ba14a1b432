"""Experiments: from creating one to stopping it, and the results of another."""

import re

from playwright.sync_api import Route, expect

from support.browser import Site, Tab


def test_an_experiment_is_created_started_and_stopped(tab: Tab, demo: Site) -> None:
    page = tab.show("/experiments")
    page.get_by_role("button", name="New experiment").click()
    following = page.get_by_role("button", name="Next")
    expect(following).to_be_disabled()
    page.get_by_label("Name").fill("polite-prompt")
    page.get_by_label("Hypothesis").fill("Politeness pays.")
    page.get_by_label("Agent").select_option("support-assistant")
    following.click()
    expect(page).to_have_url(re.compile("step=2"))
    control, polite = (page.get_by_role("group", name=f"Variant {n}") for n in (1, 2))
    polite.get_by_label("Key").fill("polite")
    page.get_by_label("Variant payload").select_option("json")
    polite.get_by_label("JSON").fill('{"prompt": ')
    expect(page.get_by_text("not a JSON object")).to_be_visible()
    page.get_by_label("Variant payload").select_option("prompt")
    polite.get_by_label("Prompt").fill("v2")
    expect(page.get_by_text("Every variant needs a prompt")).to_be_visible()
    control.get_by_label("Prompt").fill("v1")
    # Nothing is lost by a reload.
    page.reload()
    tab.settle()
    expect(polite.get_by_label("Prompt")).to_have_value("v2")
    following.click()
    page.get_by_label("Metric 1", exact=True).select_option("signal:thumbs_up")
    planner = page.get_by_role("region", name="Sample size")
    expect(planner).to_contain_text(re.compile(r"About [\d,]+ users per variant"))
    at_first = planner.inner_text()
    page.get_by_label("Minimum detectable effect").select_option("0.01")
    expect(planner).not_to_have_text(at_first, use_inner_text=True)
    following.click()
    expect(page.get_by_text("thumbs_up ↑ (primary), Latency ↓")).to_be_visible()
    expect(page.get_by_text("v2", exact=True)).to_be_visible()
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_text("Not started yet")).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Hypothesis").fill("Politeness pays off.")
    for _ in range(3):
        following.click()
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Politeness pays off.")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("No unit has been assigned yet", exact=False)).to_be_visible()
    page.get_by_role("tab", name="OpenFeature (Python)").click()
    expect(page.get_by_label("OpenFeature (Python)", exact=True)).to_contain_text("polite-prompt")
    page.get_by_role("button", name="Stop").click()
    page.get_by_label("Variant for all units from now on").select_option("polite")
    page.get_by_role("button", name="Stop experiment").click()
    expect(page.get_by_text("polite won and is now used for all units")).to_be_visible()
    [made] = [e for e in demo.call("GET", "/experiments") if e["name"] == "polite-prompt"]
    assert (made["status"], made["winner"]) == ("stopped", "polite")
    assert made["variants"][1]["config"] == {"prompt": "v2"}
    assert [m["signalName"] for m in made["metrics"]] == ["thumbs_up", None, None]


def test_a_rate_is_not_planned_above_all(tab: Tab) -> None:
    page = tab.show("/experiments/new")
    page.get_by_label("Name").fill("impossible")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("group", name="Variant 1").get_by_label("Prompt").fill("not sent")
    page.get_by_label("Variant payload").select_option("none")
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Minimum detectable effect").select_option("0.5")
    planner = page.get_by_role("region", name="Sample size")
    expect(planner).to_contain_text("cannot rise by that much")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Success rate ↑ (primary)")).to_be_visible()
    expect(page.get_by_text("All agents", exact=True)).to_be_visible()
    expect(page.get_by_text("50.0%")).to_have_count(2)
    expect(page.get_by_text("not sent")).to_have_count(0)
    assert tab.find_violations() == []
    page.get_by_role("button", name="Start over").click()
    page.get_by_role("button", name="Discard").click()


def test_results_show_the_verdict_and_the_intervals(tab: Tab, demo: Site) -> None:
    [experiment] = [e for e in demo.call("GET", "/experiments") if e["name"] == "haiku-for-support"]
    # The response of the page itself: users keep arriving, so the next one would differ.
    with tab.page.expect_response(f"**/{experiment['id']}/results") as answer:
        page = tab.show(f"/experiments/{experiment['id']}")
    results = answer.value.json()["data"]
    expect(page.get_by_role("status").filter(has_text=results["verdict"]["reason"])).to_be_visible()
    plot = page.get_by_role("group", name="Lift of each variant against the control")
    cost = plot.get_by_role("button", name=re.compile("Cost"))
    lift = results["metrics"][0]["variants"][1]["lift"]
    expect(cost).to_contain_text(f"\N{MINUS SIGN}{abs(lift) * 100:.0f}%")
    plot.get_by_role("button", name=re.compile("Latency")).click()
    expect(page).to_have_url(re.compile("metric=latency"))
    expect(page.get_by_text("lift of latency")).to_be_visible()


def test_a_sample_ratio_mismatch_shows_a_warning(fresh_tab: Tab, demo: Site) -> None:
    [experiment] = [e for e in demo.call("GET", "/experiments") if e["name"] == "haiku-for-support"]
    page = fresh_tab.page

    def skew(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        body["data"]["srm"] = {"pValue": 1e-9, "ok": False}
        body["data"]["verdict"] = {"decision": "invalid", "variant": None, "reason": "Split."}
        route.fulfill(response=answer, json=body)

    page.route("**/results", skew)
    fresh_tab.open(f"/experiments/{experiment['id']}")
    expect(page.get_by_role("alert")).to_contain_text("Sample ratio mismatch")
