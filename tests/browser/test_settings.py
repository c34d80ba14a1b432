"""Keys, prices, webhooks and members."""

import re

import httpx
from playwright.sync_api import Page, expect

from support.browser import Site, Tab


def read_secret(page: Page) -> str:
    secret = page.get_by_label("API key", exact=True).inner_text().strip()
    page.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_label("API key", exact=True)).to_have_count(0)
    return secret


def get_status(site: Site, secret: str) -> int:
    headers = {"x-api-key": secret}
    return httpx.get(f"{site.url}/api/agents", headers=headers, timeout=60).status_code


def test_a_key_is_created_rotated_revoked_and_deleted(tab: Tab, demo: Site) -> None:
    page = tab.show("/keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_label("Name").fill("a short life")
    page.get_by_label("Permissions").select_option("read")
    page.get_by_role("button", name="Create", exact=True).click()
    first = read_secret(page)
    assert get_status(demo, first) == 200
    row = page.get_by_role("listitem").filter(has_text="a short life")
    row.get_by_role("button", name="Rotate").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    second = read_secret(page)
    assert (get_status(demo, first), get_status(demo, second)) == (401, 200)
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row.get_by_text("revoked", exact=True)).to_be_visible()
    assert get_status(demo, second) == 401
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    assert first not in page.content()


def test_a_custom_price_is_set_and_reset(tab: Tab, demo: Site) -> None:
    page = tab.show("/models")
    page.get_by_role("button", name="Set the price of house-screener-8b").first.click()
    page.get_by_label("Input", exact=True).fill("100")
    page.get_by_label("Output", exact=True).fill("200")
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text="house-screener-8b")
    expect(row.get_by_text("custom")).to_be_visible()
    expect(row).to_contain_text("$100.00")
    page.get_by_role("tab", name="Custom prices").click()
    page.get_by_role("button", name="Delete the price of house-screener-8b").click()
    expect(page.get_by_text("No custom prices")).to_be_visible()
    page.get_by_role("tab", name="Models in use").click()
    expect(row.get_by_text("no price")).to_be_visible()
    assert demo.call("GET", "/models/prices") == []


def test_a_webhook_to_a_private_address_is_rejected_in_the_form(fresh_tab: Tab) -> None:
    # What is entered is not saved, and would hold back the next test.
    tab = fresh_tab
    page = tab.show("/events?tab=webhooks")
    page.get_by_role("button", name="New webhook").click()
    page.get_by_label("Address").fill("http://127.0.0.1:9/hook")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text(re.compile("private|loopback|reach"))
    tab.forget("status of 400")


def test_a_member_is_made_admin_and_back(tab: Tab, demo: Site) -> None:
    page = tab.show("/admin")
    role = page.get_by_label("Role of mara@example.com")
    with page.expect_response("**/admin/users/*"):
        role.select_option("admin")
    roles = {user["email"]: user["role"] for user in demo.call("GET", "/admin/users")}
    assert roles["mara@example.com"] == "admin"
    role.select_option("member")
    expect(role).to_have_value("member")
