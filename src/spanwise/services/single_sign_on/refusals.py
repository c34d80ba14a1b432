"""Why a sign-in is refused. The dashboard has a text for each reason."""

from enum import StrEnum


class Reason(StrEnum):
    SIGN_IN_EXPIRED = "sign_in_expired"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    PROVIDER_REFUSED = "provider_refused"
    TOKEN_REJECTED = "token_rejected"
    EMAIL_MISSING = "email_missing"
    EMAIL_NOT_VERIFIED = "email_not_verified"
    DOMAIN_NOT_ALLOWED = "domain_not_allowed"
    ACCOUNT_MISSING = "account_missing"
    ACCOUNT_DISABLED = "account_disabled"
    INVITATION_REJECTED = "invitation_rejected"


class SignInRefused(Exception):  # noqa: N818 -- an outcome, not a bug
    """The person is not signed in; `detail` is for the log only."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
