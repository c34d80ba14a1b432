"""Signing in through a real provider, and the pages of refusals."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import Tab, open_tab
from support.process import run_service
from support.provider_process import ProviderProcess, run_provider
from support.servers import free_port
from support.single_sign_on import person_claims


@dataclass(frozen=True)
class Installation:
    url: str
    provider: ProviderProcess


@pytest.fixture(scope="module")
def provider() -> Iterator[ProviderProcess]:
    with run_provider() as running:
        running.add_person("ann", **person_claims("ann@example.com"))
        running.add_person("bob", **person_claims("bob@example.com"))
        running.add_person("eve", **person_claims("eve@evil.example"))
        yield running


@pytest.fixture(scope="module")
def installation(
    provider: ProviderProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """A service on a port that its public URL names: the provider redirects there."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = {"oidc_name": "Corp ID", "oidc_domains": "example.com", **provider.settings}
    folder = tmp_path_factory.mktemp("installation")
    with run_service(folder, port=port, public_url=url, **settings):
        yield Installation(url, provider)


@pytest.fixture(scope="module")
def without_passwords(
    provider: ProviderProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = {"password_login": False, **provider.settings}
    folder = tmp_path_factory.mktemp("without-passwords")
    with run_service(folder, port=port, public_url=url, **settings):
        yield Installation(url, provider)


# The provider's form loads a style sheet from here.
STYLES = "https://cdn.jsdelivr.net"


@contextmanager
def open_installation(chromium: Browser, installation: Installation) -> Iterator[Tab]:
    """Open a tab that may visit the provider."""
    issuer = installation.provider.issuer
    with open_tab(chromium, installation.url) as tab:
        for other in (f"{STYLES}/**", f"{issuer}/favicon.ico"):
            tab.page.route(other, lambda route: route.fulfill(body="", content_type="text/css"))
        yield tab
        tab.troubles = [one for one in tab.troubles if issuer not in one and STYLES not in one]


def authorize(page: Page, subject: str) -> None:
    """Fill in the form of the provider."""
    page.get_by_placeholder("sub").fill(subject)
    page.get_by_role("button", name="Authorize").click()


# The first three share an installation; only the last of them creates an account.


def test_a_sign_in_that_was_not_finished_here_is_explained(
    chromium: Browser, installation: Installation
) -> None:
    with open_installation(chromium, installation) as tab:
        page = tab.open("/login?error=sign_in_expired")
        expect(page.get_by_role("alert")).to_contain_text("took too long")
        page.goto(f"{installation.url}/login?signedIn=1")
        expect(page.get_by_role("alert")).to_contain_text("did not keep the sign-in")
        page.get_by_role("link", name="Back to sign in").click()
        expect(page.get_by_role("heading", name="Create the first account")).to_be_visible()
        # The browser logs the expected 401.
        tab.forget("status of 401")


def test_a_refusal_says_why_and_what_to_do(chromium: Browser, installation: Installation) -> None:
    with open_installation(chromium, installation) as tab:
        page = tab.open("/login")
        page.get_by_role("link", name="Continue with Corp ID").click()
        authorize(page, "eve")
        expect(page.get_by_role("alert")).to_contain_text("Addresses of your domain may not")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert tab.find_violations() == []
        page.get_by_role("link", name="Continue with Corp ID").click()
        page.get_by_role("button", name="Deny").click()
        expect(page.get_by_role("alert")).to_contain_text("cancelled at the provider")


def test_a_fresh_installation_is_opened_by_single_sign_on(
    chromium: Browser, installation: Installation
) -> None:
    with open_installation(chromium, installation) as tab:
        page = tab.open("/keys")
        expect(page.get_by_role("heading", name="Create the first account")).to_be_visible()
        assert tab.find_violations() == []
        page.get_by_role("link", name="Continue with Corp ID").click()
        authorize(page, "ann")
        expect(page.get_by_role("heading", name="No API keys yet")).to_be_visible()
        assert page.url.startswith(f"{installation.url}/keys?ws=wsp_")
        # The address that showed the sign-in is not in the history.
        page.go_back()
        page.wait_for_url(f"{installation.provider.issuer}/**")


def test_without_passwords_there_is_only_the_provider(
    chromium: Browser, without_passwords: Installation
) -> None:
    with open_installation(chromium, without_passwords) as tab:
        for path in ("/", "/register"):
            page = tab.open(path)
            expect(page.get_by_role("link", name="Continue with single sign-on")).to_be_visible()
            expect(page.get_by_label("Password")).to_have_count(0)
            expect(page.get_by_role("link")).to_have_count(1)
        assert tab.find_violations() == []
        page.get_by_role("link", name="Continue with single sign-on").click()
        authorize(page, "ann")
        expect(page.get_by_role("link", name="Overview")).to_be_visible()
        tab.open("/profile")
        expect(page.get_by_role("heading", name="Account")).to_be_visible()
        expect(page.get_by_label("Current password")).to_have_count(0)


def test_an_invited_person_joins_through_the_provider(
    chromium: Browser, without_passwords: Installation
) -> None:
    with open_installation(chromium, without_passwords) as tab:
        page = tab.open("/workspace?tab=members")
        page.get_by_role("link", name="Continue with single sign-on").click()
        authorize(page, "ann")
        page.get_by_label("Invite by e-mail").fill("bob@example.com")
        page.get_by_role("button", name="Invite").click()
        link = page.get_by_label("Invitation link").inner_text().strip()
        workspace = page.url.partition("ws=")[2].partition("&")[0]
    with open_installation(chromium, without_passwords) as tab:
        page = tab.open("/invitation" + link.partition("/invitation")[2])
        expect(page.get_by_text("invited bob@example.com")).to_be_visible()
        expect(page.get_by_label("Password")).to_have_count(0)
        assert tab.find_violations() == []
        page.get_by_role("link", name="Continue with single sign-on").click()
        authorize(page, "bob")
        page.wait_for_url(f"{without_passwords.url}/?ws={workspace}*")
        tab.open("/workspace?tab=members")
        expect(page.get_by_role("list", name="Members")).to_contain_text("bob@example.com")
