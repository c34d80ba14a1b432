"""Which account a person gets: created, linked, invited, and put into workspaces."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.identity_provider import IdentityProvider
from support.service import PASSWORD, Person, Service, assert_error, link_token, new_email
from support.single_sign_on import Visitor, audit_entries, person_claims, start_sso_service
from support.teams import join

CLAIM = "spanwise_roles"


async def verify(service: Service, person: Person) -> None:
    [mail] = await service.mails_to(person.email)
    query = {"token": link_token(mail)}
    assert (await service.call("GET", "/auth/verify-email", params=query)).is_success


async def invite(inviter: Person, email: str, role: str) -> str:
    """Return the token of an invitation into the inviter's workspace."""
    path = f"/workspaces/{inviter.user['defaultWorkspaceId']}/invitations"
    made = await inviter.data("POST", path, json={"email": email, "role": role})
    token: str = made["link"].partition("token=")[2]
    return token


def header_of(person: Person) -> dict[str, str]:
    """Name the workspace that came with a person's account."""
    return {"X-Workspace-Id": person.user["defaultWorkspaceId"]}


async def roles_of(person: Person) -> dict[str, str]:
    found = await person.data("GET", "/workspaces")
    return {workspace["id"]: workspace["role"] for workspace in found}


async def test_a_verified_account_is_linked_and_keeps_its_password(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    ann = await service.sign_up()
    await verify(service, ann)
    provider.claims = person_claims(ann.email, name="Another Name")
    await visitor.sign_in()
    linked = await visitor.find_person()
    assert (linked.user["id"], linked.user["name"]) == (ann.user["id"], ann.user["name"])
    await service.log_in(ann.email)
    assert (await ann.call("GET", "/users/profile")).status_code == 200


async def test_an_unverified_account_is_taken_from_whoever_registered_it(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    squatter = await service.sign_up()
    provider.claims = person_claims(squatter.email)
    await visitor.sign_in()
    owner = await visitor.find_person()
    assert owner.user["id"] == squatter.user["id"]
    assert owner.user["emailVerified"] is True
    assert_error(await squatter.call("GET", "/users/profile"), 401)
    body = {"email": squatter.email, "password": PASSWORD}
    assert_error(await service.call("POST", "/auth/login", json=body), 401)
    actions = [e["action"] for e in await audit_entries(service) if e["actor"] == owner.user["id"]]
    assert actions[:2] == ["login.succeeded", "password.removed"]


async def test_nothing_that_others_can_read_is_left_of_an_unverified_account(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    squatter, friend = await service.sign_up(), await service.sign_up()
    own = f"/workspaces/{squatter.user['defaultWorkspaceId']}"
    await join(squatter, friend, own, "owner")
    body = {"email": new_email(), "role": "admin"}
    await friend.data("POST", f"{own}/invitations", json=body, headers=header_of(squatter))
    key = (await squatter.new_key(scopes=["full"]))["key"]
    hook = {"url": "https://hooks.example.com/1"}
    await squatter.data("POST", "/events/webhooks", json=hook)
    notify = {"emails": ["evil@example.com"], "webhooks": [hook]}
    await squatter.data("PUT", "/alerts/settings", json={"notify": notify})
    # The friend also made the account a member of a workspace that the friend can read.
    theirs = f"/workspaces/{friend.user['defaultWorkspaceId']}"
    await join(friend, squatter, theirs, "editor")

    provider.claims = person_claims(squatter.email)
    await visitor.sign_in()
    owner = await visitor.find_person()
    assert f"/workspaces/{owner.user['defaultWorkspaceId']}" == own
    [workspace] = await owner.data("GET", "/workspaces")
    assert (workspace["role"], workspace["members"]) == ("owner", 1)
    assert await owner.data("GET", f"{own}/invitations") == []
    assert await owner.data("GET", "/events/webhooks") == []
    settings = await owner.data("GET", "/alerts/settings")
    assert settings["notify"] == {"emails": [], "webhooks": [], "channels": []}
    assert_error(await service.call_with_key(key, "GET", "/spans/traces"), 401)
    assert_error(await friend.call("GET", "/spans/traces", headers=header_of(squatter)), 404)
    mail = (await service.mails_to(squatter.email))[-1]
    for loss in (friend.email, "keys (1)", "webhooks (1)", "receivers of alerts (2)"):
        assert loss in mail
    assert f"your membership in the workspace {friend.user['name']}" in mail


async def test_an_account_that_founded_nothing_gets_a_workspace_of_its_own(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    squatter, friend = await service.sign_up(), await service.sign_up()
    own = f"/workspaces/{squatter.user['defaultWorkspaceId']}"
    theirs = f"/workspaces/{friend.user['defaultWorkspaceId']}"
    await join(squatter, friend, own, "owner")
    await join(friend, squatter, theirs, "editor")
    await friend.data("DELETE", f"{own}/members/{squatter.user['id']}", headers=header_of(squatter))
    provider.claims = person_claims(squatter.email)
    await visitor.sign_in()
    owner = await visitor.find_person()
    [workspace] = await owner.data("GET", "/workspaces")
    assert (workspace["role"], workspace["members"]) == ("owner", 1)
    assert owner.user["defaultWorkspaceId"] == workspace["id"]
    assert workspace["id"] not in {own.rpartition("/")[2], theirs.rpartition("/")[2]}


async def test_two_tabs_of_a_new_person_create_one_account(
    service: Service, provider: IdentityProvider
) -> None:
    provider.claims = person_claims(new_email())
    visitors = [Visitor(service) for _ in range(3)]
    callbacks = [await visitor.ask_provider(await visitor.start()) for visitor in visitors]
    landed = await asyncio.gather(
        *(
            visitor.come_back(callback)
            for visitor, callback in zip(visitors, callbacks, strict=True)
        )
    )
    assert landed == [{"signedIn": "1"}] * 3
    people = [await visitor.find_person() for visitor in visitors]
    assert len({person.user["id"] for person in people}) == 1
    assert len(await people[0].data("GET", "/workspaces")) == 1
    for visitor in visitors:
        await visitor.http.aclose()


async def test_a_person_can_set_a_password_by_mail(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    email = new_email()
    provider.claims = person_claims(email)
    await visitor.sign_in()
    await service.call("POST", "/auth/forgot-password", json={"email": email})
    [mail] = await service.mails_to(email)
    body = {"token": link_token(mail), "password": PASSWORD}
    assert (await service.call("POST", "/auth/reset-password", json=body)).is_success
    await service.log_in(email)


async def test_without_creation_only_accounts_and_invited_people_get_in(
    tmp_path: Path, provider: IdentityProvider
) -> None:
    async with start_sso_service(tmp_path, provider, oidc_create_users=False) as service:
        ann, invited = await service.sign_up(), new_email()
        await verify(service, ann)
        token = await invite(ann, invited, "viewer")
        for email, query, expected in (
            (new_email(), {}, {"error": "account_missing"}),
            (ann.email, {}, {"signedIn": "1"}),
            (invited, {}, {"error": "account_missing"}),
            (invited, {"invitation": token}, {"signedIn": "1"}),
        ):
            provider.claims = person_claims(email)
            visitor = Visitor(service)
            async with visitor.http:
                assert await visitor.sign_in(**query) == expected, email


async def test_an_invitation_is_accepted(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    inviter, email = await service.sign_up(), new_email()
    workspace = inviter.user["defaultWorkspaceId"]
    provider.claims = person_claims(email)
    await visitor.sign_in(invitation=await invite(inviter, email, "editor"))
    joined = await visitor.find_person()
    assert joined.user["defaultWorkspaceId"] == workspace
    assert sorted((await roles_of(joined)).values()) == ["editor", "owner"]


async def test_an_invitation_for_another_address_changes_nothing(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    inviter, email = await service.sign_up(), new_email()
    token = await invite(inviter, new_email(), "editor")
    provider.claims = person_claims(email)
    assert await visitor.sign_in(invitation=token) == {"error": "invitation_rejected"}
    assert await visitor.sign_in(invitation="unknown") == {"error": "invitation_rejected"}
    # The account was not created either.
    body = {"email": email, "password": PASSWORD}
    assert (await service.call("POST", "/auth/register", json=body)).status_code == 201


@pytest.fixture(scope="module")
async def reading_roles(
    tmp_path_factory: pytest.TempPathFactory,
    cheap_hashes: None,
    _running_provider: IdentityProvider,
) -> AsyncIterator[Service]:
    folder = tmp_path_factory.mktemp("roles")
    async with start_sso_service(folder, _running_provider, oidc_role_claim=CLAIM) as service:
        yield service


@pytest.fixture
async def with_roles(reading_roles: Service) -> AsyncIterator[tuple[Service, Visitor]]:
    visitor = Visitor(reading_roles)
    async with visitor.http:
        yield reading_roles, visitor


async def test_the_role_claim_puts_a_person_into_workspaces(
    with_roles: tuple[Service, Visitor], provider: IdentityProvider
) -> None:
    service, visitor = with_roles
    one, other = await service.sign_up(), await service.sign_up()
    first, second = one.user["defaultWorkspaceId"], other.user["defaultWorkspaceId"]
    groups = ["staff", f"{first}:editor", f"{second}:viewer", f"{second}:king", "wsp_none:owner"]
    provider.claims = person_claims(new_email(), **{CLAIM: groups})
    assert await visitor.sign_in() == {"signedIn": "1"}
    ann = await visitor.find_person()
    assert ann.user["defaultWorkspaceId"] == first
    roles = await roles_of(ann)
    assert (roles.pop(first), roles.pop(second)) == ("editor", "viewer")
    assert list(roles.values()) == ["owner"]


async def test_the_role_claim_is_applied_at_every_sign_in(
    with_roles: tuple[Service, Visitor], provider: IdentityProvider
) -> None:
    service, visitor = with_roles
    owner, email = await service.sign_up(), new_email()
    workspace = owner.user["defaultWorkspaceId"]
    for value, expected in (
        ([f"{workspace}:viewer"], "viewer"),
        ({workspace: "admin"}, "admin"),
        (f"{workspace}:editor", "editor"),
        # What the claim does not mention stays.
        ([], "editor"),
    ):
        provider.claims = person_claims(email, **{CLAIM: value})
        await visitor.sign_in()
        ann = await visitor.find_person()
        assert (await roles_of(ann))[workspace] == expected
    entries = await owner.data("GET", f"/workspaces/{workspace}/audit")
    changes = [(e["action"], e["data"]) for e in entries if e["action"].startswith("member.")]
    assert changes == [
        ("member.role_changed", {"method": "oidc", "from": "admin", "to": "editor"}),
        ("member.role_changed", {"method": "oidc", "from": "viewer", "to": "admin"}),
        ("member.joined", {"method": "oidc", "role": "viewer"}),
    ]


async def test_a_role_claim_that_demotes_withdraws_invitations(
    with_roles: tuple[Service, Visitor], provider: IdentityProvider
) -> None:
    service, visitor = with_roles
    owner, email = await service.sign_up(), new_email()
    workspace = owner.user["defaultWorkspaceId"]
    invitations = f"/workspaces/{workspace}/invitations"
    for role in ("admin", "viewer"):
        provider.claims = person_claims(email, **{CLAIM: {workspace: role}})
        await visitor.sign_in()
        if role == "admin":
            ann = await visitor.find_person()
            body = {"email": new_email(), "role": "admin"}
            await ann.data("POST", invitations, json=body, headers=header_of(owner))
            assert len(await owner.data("GET", invitations)) == 1
    assert await owner.data("GET", invitations) == []


async def test_the_role_claim_comes_from_userinfo_too(
    with_roles: tuple[Service, Visitor], provider: IdentityProvider
) -> None:
    service, visitor = with_roles
    workspace = (await service.sign_up()).user["defaultWorkspaceId"]
    provider.claims = person_claims(new_email())
    provider.userinfo = {CLAIM: [f"{workspace}:viewer"]}
    await visitor.sign_in()
    assert (await roles_of(await visitor.find_person()))[workspace] == "viewer"


async def test_the_last_owner_stays_owner(
    with_roles: tuple[Service, Visitor], provider: IdentityProvider
) -> None:
    service, visitor = with_roles
    ann = await service.sign_up()
    workspace = ann.user["defaultWorkspaceId"]
    provider.claims = person_claims(ann.email, **{CLAIM: [f"{workspace}:viewer"]})
    assert await visitor.sign_in() == {"signedIn": "1"}
    assert await roles_of(await visitor.find_person()) == {workspace: "owner"}
