"""From registration to the first trace, and signing in."""

import re

import httpx
from playwright.sync_api import Browser, Page, expect

from support.browser import Site, Tab, open_tab
from support.process import ANSWER_SECONDS
from support.receivers import hook_server
from support.service import PASSWORD
from support.spans import span


def test_a_new_user_registers_and_sees_the_first_trace(chromium: Browser, demo: Site) -> None:
    with open_tab(chromium, demo.url) as tab:
        page = tab.open("/")
        page.get_by_role("link", name="Create an account").click()
        page.get_by_label("Name").fill("Nora")
        page.get_by_label("E-mail").fill("nora@example.com")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name=re.compile("Create")).click()
        expect(page.get_by_text("Waiting for the first trace")).to_be_visible()
        variables = page.get_by_label("Environment variables")
        expect(variables).to_contain_text("sw_")
        key = re.search(r"sw_\w+", variables.inner_text())
        assert key
        body = span(name="my first call", agentName="newcomer")
        sent = httpx.post(
            f"{demo.url}/api/spans",
            json=body,
            headers={"x-api-key": key[0]},
            timeout=ANSWER_SECONDS,
        )
        assert sent.is_success, sent.text
        expect(page.get_by_text("It works.")).to_be_visible()
        page.get_by_role("link", name="Open the trace").click()
        expect(page.get_by_text("my first call").first).to_be_visible()


def sign_in(page: Page) -> None:
    page.get_by_label("E-mail").fill("demo@example.com")
    page.get_by_label("Password").fill("watch the fleet")
    page.get_by_role("button", name="Sign in").click()


def assert_scripts_see_no_token(tab: Tab) -> None:
    stored = tab.page.evaluate("JSON.stringify([document.cookie, localStorage, sessionStorage])")
    [cookie] = tab.page.context.cookies(f"{tab.url}/api")
    assert cookie["value"].startswith("ey")
    assert "ey" not in stored
    assert stored.startswith('["",{')


def test_a_sign_in_is_kept_in_all_tabs_until_one_signs_out(chromium: Browser, demo: Site) -> None:
    with open_tab(chromium, demo.url) as tab:
        tab.page.evaluate("localStorage.setItem('spanwise.token', 'eyOfAnEarlierVersion')")
        page = tab.open("/keys")
        sign_in(page)
        expect(page.get_by_role("heading", name="API keys")).to_be_visible()
        assert_scripts_see_no_token(tab)
        page.reload()
        expect(page.get_by_role("heading", name="API keys")).to_be_visible()
        second = page.context.new_page()
        second.goto(f"{demo.url}/keys")
        expect(second.get_by_role("heading", name="API keys")).to_be_visible()
        page.get_by_role("button", name="Your account").click()
        page.get_by_role("menuitem", name="Sign out").click()
        for one in (page, second):
            expect(one.get_by_role("heading", name="Sign in")).to_be_visible()
        assert page.context.cookies(f"{demo.url}/api") == []
        second.goto(f"{demo.url}/keys")
        expect(second.get_by_role("heading", name="Sign in")).to_be_visible()


def test_without_the_service_nobody_is_signed_out(chromium: Browser, demo: Site) -> None:
    with open_tab(chromium, demo.url, demo.token) as tab:
        page = tab.open("/keys")
        page.route("**/api/auth/session", lambda route: route.abort())
        page.get_by_role("button", name="Your account").click()
        page.get_by_role("menuitem", name="Sign out").click()
        notices = page.get_by_role("region", name="Notifications")
        expect(notices.get_by_text("You are still signed in.")).to_be_visible()
        expect(page.get_by_role("heading", name="API keys")).to_be_visible()
        tab.forget("ERR_FAILED")


def test_a_page_of_another_port_cannot_use_the_cookie(chromium: Browser, demo: Site) -> None:
    """Ports of a host are one site, so the browser sends the cookie."""
    with open_tab(chromium, demo.url, demo.token) as tab, hook_server() as other:
        page = tab.page
        page.goto(other.url)
        options = "{ method: 'POST', mode: 'no-cors', credentials: 'include' }"
        with page.expect_response(f"{demo.url}/api/workspaces") as found:
            page.evaluate(f"url => void fetch(url, {options})", f"{demo.url}/api/workspaces")
        # With the cookie alone it would be 400: there is no body.
        assert found.value.status == 401
        tab.troubles = []


def test_a_browser_that_refuses_the_cookie_is_told(chromium: Browser, demo: Site) -> None:
    with open_tab(chromium, demo.url) as tab:
        page = tab.open("/login")
        page.route(
            "**/api/auth/session",
            lambda route: route.fulfill(json={"success": True, "data": {}}),
        )
        sign_in(page)
        expect(page.get_by_role("alert")).to_contain_text("This browser did not keep the sign-in")
        tab.forget("status of 401")


def test_a_wrong_password_is_reported(chromium: Browser, demo: Site) -> None:
    with open_tab(chromium, demo.url) as tab:
        page = tab.open("/login")
        page.get_by_label("E-mail").fill("demo@example.com")
        page.get_by_label("Password").fill("not this one")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("Incorrect e-mail or password")).to_be_visible()
        # The browser logs the expected 401.
        tab.forget("status of 401")


def test_a_link_that_does_not_work_says_so(chromium: Browser, demo: Site) -> None:
    problem = "This link is unknown, already used or expired"
    with open_tab(chromium, demo.url) as tab:
        page = tab.open("/verify-email?token=old")
        expect(page.get_by_role("alert")).to_contain_text(problem)
        page = tab.open("/reset-password?token=old")
        page.get_by_label("New password").fill("short")
        page.get_by_role("button", name="Set password").click()
        expect(page.get_by_text("must have 8 to 128 characters")).to_be_visible()
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_role("button", name="Set password").click()
        expect(page.get_by_role("alert").first).to_contain_text(problem)
        # The browser logs the expected 400s.
        tab.forget("status of 400")


def test_an_expired_session_leads_to_the_sign_in_page_and_back(
    chromium: Browser, demo: Site
) -> None:
    with open_tab(chromium, demo.url, token="ended") as tab:
        page = tab.open("/experiments?status=stopped")
        expect(page.get_by_text("Your session has ended")).to_be_visible()
        sign_in(page)
        expect(page.get_by_text("concise-answers")).to_be_visible()
        expect(page).to_have_url(re.compile(r"/experiments\?status=stopped&ws=wsp_"))
        tab.forget("status of 401")
