"""Several people in shared workspaces: links, roles, switching and invitations."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, expect

from spanwise.demo.setup import WORKSPACE
from support.browser import Site, Tab, open_tab
from support.service import PASSWORD
from support.site_data import (
    create_experiment,
    invite,
    raise_alert,
    share_workspace,
    sign_up,
)

OpenAs = Callable[[Site], Tab]


@pytest.fixture(scope="module")
def owner(demo: Site) -> Site:
    return sign_up(demo.url, "wanda@example.com", "Wanda Reyes")


@pytest.fixture
def open_as(chromium: Browser) -> Iterator[OpenAs]:
    """Opens a tab of a person in a browser of their own."""
    with ExitStack() as stack:
        yield lambda site: stack.enter_context(open_tab(chromium, site.url, site.token))


def follow(tab: Tab, page: Page) -> Page:
    """Open in one person's browser what another one has in the address bar."""
    return tab.open(page.url.removeprefix(tab.url))


def switcher(page: Page, name: str) -> None:
    expect(page.get_by_role("button", name=re.compile("^Workspace:"))).to_contain_text(name)


def test_two_people_work_on_the_same_alert_and_experiment(
    demo: Site, owner: Site, open_as: OpenAs
) -> None:
    editor = sign_up(demo.url, "emil@example.com", "Emil Novak")
    share_workspace(owner, editor, "editor")
    alert = raise_alert(owner, "shared-agent")
    experiment = create_experiment(owner, "shared-experiment")
    hers, his = open_as(owner), open_as(editor)

    page = hers.open(f"/alerts?alert={alert}")
    colleague = follow(his, page)
    colleague.keyboard.press("a")
    expect(colleague.get_by_text("Acknowledged.")).to_be_visible()
    page.reload()
    panel = page.get_by_label("Alert", exact=True)
    expect(panel.get_by_text("acknowledged").first).to_be_visible()
    expect(panel).to_contain_text("Emil Novak")

    page = hers.open(f"/experiments/{experiment}")
    colleague = follow(his, page)
    colleague.get_by_role("button", name="Start").click()
    expect(colleague.get_by_text("Started.")).to_be_visible()
    page.reload()
    expect(page.locator("main").get_by_text("running", exact=True)).to_be_visible()


def test_a_link_into_a_foreign_workspace_says_so(demo: Site, owner: Site, open_as: OpenAs) -> None:
    outsider = sign_up(demo.url, "otto@example.com", "Otto Hahn")
    page = open_as(owner).open("/agents")
    tab = open_as(outsider)
    foreign = follow(tab, page)
    expect(
        foreign.get_by_role("heading", name="You are not a member of this workspace")
    ).to_be_visible()
    assert tab.find_violations() == []
    # The navigation leads back to the person's own workspace.
    pages = foreign.get_by_role("navigation", name="Pages")
    pages.get_by_role("link", name="Agents", exact=True).click()
    expect(foreign.get_by_text("No agents yet")).to_be_visible()
    switcher(foreign, "Otto Hahn's workspace")


def test_a_new_person_joins_with_an_invitation(
    chromium: Browser, demo: Site, owner: Site, open_as: OpenAs
) -> None:
    page = open_as(owner).open("/workspace?tab=members")
    page.get_by_label("Invite by e-mail").fill("nils@example.com")
    page.get_by_label("Role", exact=True).select_option("viewer")
    page.get_by_role("button", name="Invite").click()
    link = page.get_by_label("Invitation link").inner_text().strip()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("list", name="Open invitations")).to_contain_text("nils@example.com")
    path = "/invitation" + link.partition("/invitation")[2]
    with open_tab(chromium, demo.url) as tab:
        newcomer = tab.open(path)
        expect(newcomer.get_by_text("Wanda Reyes invited nils@example.com")).to_be_visible()
        assert tab.find_violations() == []
        expect(newcomer.get_by_label("E-mail")).to_have_value("nils@example.com")
        newcomer.get_by_label("Name").fill("Nils Berg")
        newcomer.get_by_label("Password").fill(PASSWORD)
        newcomer.get_by_role("button", name="Create account and join").click()
        switcher(newcomer, "Wanda Reyes's workspace")
        tab.open(path)
        expect(newcomer.get_by_text("This invitation is no longer valid")).to_be_visible()
        tab.forget("status of 400")
    page.reload()
    expect(page.get_by_role("list", name="Members")).to_contain_text("Nils Berg")


def test_an_invitation_is_accepted_only_with_its_own_address(
    chromium: Browser, demo: Site, owner: Site
) -> None:
    sign_up(demo.url, "anna@example.com", "Anna Lund")
    other = sign_up(demo.url, "berta@example.com", "Berta Roth")
    workspace_id = owner.call("GET", "/users/profile")["defaultWorkspaceId"]
    token = invite(owner, workspace_id, "anna@example.com", "editor")
    with open_tab(chromium, demo.url, other.token) as tab:
        page = tab.open(f"/invitation?token={token}")
        expect(page.get_by_text("You are signed in as berta@example.com")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("E-mail").fill("anna@example.com")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Accept invitation").click()
        switcher(page, "Wanda Reyes's workspace")
        switcher(page, "editor")


WRITES = {
    "/alerts": ("Acknowledge", "Editors only"),
    "/experiments": ("New experiment", "Editors only"),
    "/agents/support-assistant/rules": ("Save", "Editors only"),
    "/models": ("Set the price of house-screener-8b", "Editors only"),
    "/events?tab=webhooks": ("New webhook", "Admins only"),
}


def test_a_viewer_cannot_press_what_changes_something(
    demo: Site, viewer: Site, open_as: OpenAs
) -> None:
    raise_alert(demo, "busy-wasp")
    tab = open_as(viewer)
    for path, (name, reason) in WRITES.items():
        page = tab.show(path)
        button = page.get_by_role("button", name=name).first
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("title", reason)
    page = tab.show("/keys")
    expect(page.get_by_text("production fleet")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("New key|Rotate|Revoke"))).to_have_count(0)
    page = tab.show("/start")
    expect(page.get_by_text("Mara Lind (mara@example.com)")).to_be_visible()
    page = tab.show("/workspace?tab=audit")
    expect(page.get_by_role("tab", name="Audit")).to_have_count(0)


def test_the_workspace_is_switched_in_the_top_bar_and_the_palette(
    viewer: Site, open_as: OpenAs
) -> None:
    tab = open_as(viewer)
    page = tab.open("/keys")
    switcher(page, WORKSPACE)
    page.get_by_role("button", name=re.compile("^Workspace:")).click()
    assert tab.find_violations() == []
    page.get_by_role("menuitem", name=re.compile("Joel Okafor's workspace")).click()
    expect(page.get_by_text("No API keys yet")).to_be_visible()
    switcher(page, "owner")
    page.keyboard.press("Control+k")
    page.get_by_label("Search and commands").last.fill("switch to acme")
    page.keyboard.press("Enter")
    expect(page.get_by_text("production fleet")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("No API keys yet")).to_be_visible()
    # A URL that names no workspace opens the latest one.
    tab.open("/keys")
    switcher(page, "Joel Okafor's workspace")


def test_a_removed_member_continues_in_the_default_workspace(
    demo: Site, owner: Site, open_as: OpenAs
) -> None:
    member = sign_up(demo.url, "rosa@example.com", "Rosa Diaz")
    workspace_id = share_workspace(owner, member, "editor")
    tab = open_as(member)
    page = tab.open("/experiments")
    switcher(page, "Wanda Reyes's workspace")
    user_id = member.call("GET", "/users/profile")["id"]
    owner.call("DELETE", f"/workspaces/{workspace_id}/members/{user_id}")
    page.reload()
    expect(page.get_by_text("You are no longer a member of that workspace")).to_be_visible()
    switcher(page, "Rosa Diaz's workspace")
    tab.forget("status of 404")


def test_a_workspace_is_created_renamed_and_deleted(owner: Site, open_as: OpenAs) -> None:
    tab = open_as(owner)
    page = tab.open("/workspace")
    page.get_by_role("button", name=re.compile("^Workspace:")).click()
    page.get_by_role("menuitem", name="New workspace…").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Sandbox")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Get started")).to_be_visible()
    switcher(page, "Sandbox")
    page = tab.open("/workspace")
    page.get_by_label("Workspace name").fill("Playground")
    page.get_by_role("button", name="Rename").click()
    switcher(page, "Playground")
    page.get_by_role("button", name="Delete workspace").click()
    dialog = page.get_by_role("dialog", name="Delete Playground?")
    button = dialog.get_by_role("button", name="Delete workspace")
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill("Playground")
    button.click()
    expect(page.get_by_text("Playground is deleted.")).to_be_visible()
    switcher(page, "Wanda Reyes's workspace")


def test_the_audit_log_is_filtered_and_exported(owner: Site, open_as: OpenAs) -> None:
    workspace_id = owner.call("GET", "/users/profile")["defaultWorkspaceId"]
    invite(owner, workspace_id, "audited@example.com", "viewer")
    page = open_as(owner).open("/workspace?tab=audit")
    page.get_by_label("Type").select_option("member.invited")
    entries = page.get_by_role("list", name="Audit log")
    expect(entries).to_contain_text("Wanda Reyes invited audited@example.com as a viewer")
    expect(entries).not_to_contain_text("created an account")
    with page.expect_download() as started:
        page.get_by_role("button", name="CSV").click()
    lines = started.value.path().read_text().splitlines()
    assert lines[0] == "at,who,what,type,actor,subject,address"
    assert all("member.invited" in line for line in lines[1:])


def test_masking_shows_what_would_be_kept(owner: Site, open_as: OpenAs) -> None:
    tab = open_as(owner)
    page = tab.open("/workspace?tab=masking")
    page.get_by_label("What is stored").select_option("mask")
    page.get_by_label("E-mail addresses").check()
    page.get_by_role("button", name="Add pattern").click()
    page.get_by_label("Name of pattern 1").fill("ticket")
    page.get_by_label("Expression of pattern 1").fill("TICKET-[0-9]+")
    page.get_by_label("Text", exact=True).fill("wanda@example.com about TICKET-7")
    expect(page.get_by_text("[email] about [ticket]")).to_be_visible()
    page.get_by_label("Expression of pattern 1").fill("(?=x)")
    expect(page.get_by_text("not a valid RE2 pattern")).to_be_visible()
    # The browser logs the response to the invalid pattern.
    tab.forget("status of 400")
    page.get_by_label("Expression of pattern 1").fill("TICKET-[0-9]+")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("New telemetry is masked from now on.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("E-mail addresses")).to_be_checked()
    expect(page.get_by_label("Name of pattern 1")).to_have_value("ticket")
    page.get_by_label("What is stored").select_option("off")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("New telemetry is masked from now on.").last).to_be_visible()


def test_a_retention_says_what_it_removes(owner: Site, open_as: OpenAs) -> None:
    page = open_as(owner).open("/workspace?tab=retention")
    expect(page.get_by_text("Nothing.")).to_be_visible()
    page.get_by_label("Delete after (days)").fill("0")
    expect(page.get_by_text("A whole number from 1")).to_be_visible()
    page.get_by_label("Delete after (days)").fill("365")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Change retention").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Delete after (days)")).to_have_value("365")
