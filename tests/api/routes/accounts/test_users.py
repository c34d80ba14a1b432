"""The signed-in user's profile and password."""

from support.service import PASSWORD, Service, assert_error


async def test_the_profile_contains_no_secrets(service: Service) -> None:
    ann = await service.sign_up()
    profile = await ann.data("GET", "/users/profile")
    assert profile == ann.user
    assert set(profile) == {
        "id",
        "email",
        "name",
        "role",
        "emailVerified",
        "createdAt",
        "lastLoginAt",
        "defaultWorkspaceId",
    }


async def test_the_name_can_be_changed_and_nothing_else(service: Service) -> None:
    ann = await service.sign_up()
    change = {"name": "  Ann Example ", "role": "admin", "email": "other@example.com"}
    changed = await ann.data("PUT", "/users/profile", json=change)
    assert changed == {**ann.user, "name": "Ann Example"}
    assert await ann.data("GET", "/users/profile") == changed


async def test_omitted_fields_do_not_change(service: Service) -> None:
    ann = await service.sign_up()
    for body in ({}, {"name": None}):
        assert await ann.data("PUT", "/users/profile", json=body) == ann.user


async def test_an_invalid_name_is_refused(service: Service) -> None:
    ann = await service.sign_up()
    names: list[object] = ["", " ", "x" * 201, "a\x00b", 7, True]
    for name in names:
        assert_error(await ann.call("PUT", "/users/profile", json={"name": name}), 400, "name")
    assert await ann.data("GET", "/users/profile") == ann.user


async def test_a_refused_password_change_changes_nothing(service: Service) -> None:
    ann = await service.sign_up()
    for current, new, field in (
        ("wrong password", "another horse battery", "currentPassword"),
        (PASSWORD, "12345678", "newPassword"),
        (PASSWORD, None, "newPassword"),
    ):
        body = {"currentPassword": current, "newPassword": new}
        assert_error(await ann.call("PUT", "/users/password", json=body), 400, field)
    assert (await ann.call("GET", "/users/profile")).status_code == 200
    await service.log_in(ann.email)
