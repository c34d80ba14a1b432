"""Registration, sign-in, verification and password reset, as a person meets them."""

from support.service import Service


async def test_a_person_can_register_and_log_in(service: Service) -> None:
    ann = await service.sign_up("Ann@Example.com")
    assert ann.user["email"] == "ann@example.com"
    assert (await ann.data("GET", "/users/profile"))["email"] == "ann@example.com"


async def test_the_first_account_is_admin_and_later_ones_are_members(service: Service) -> None:
    first, second = await service.sign_up(), await service.sign_up()
    assert (first.user["role"], second.user["role"]) == ("admin", "member")
