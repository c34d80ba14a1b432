/** Why single sign-on refused somebody, by the code in the URL. */
const TEXTS: Record<string, string> = {
  sign_in_expired:
    "The sign-in took too long, or it was started in another browser or under another address. Try again.",
  provider_unavailable: "The sign-in provider does not respond. Try again later.",
  provider_refused: "The sign-in was cancelled at the provider.",
  token_rejected:
    "The provider's answer could not be verified. Try again; if it happens again, tell your administrator.",
  email_missing: "The provider did not send your e-mail address. Tell your administrator.",
  email_not_verified:
    "Your e-mail address is not verified at the provider. Verify it there, then try again.",
  domain_not_allowed:
    "Addresses of your domain may not sign in here. Use another account, or ask your administrator.",
  account_missing:
    "You have no account here, and single sign-on does not create one. Ask your administrator.",
  account_disabled: "Your account is disabled. Ask your administrator.",
  invitation_rejected:
    "The invitation is for another address, already used or expired. Sign in without it, or ask for a new one.",
};

export function refusalText(code: string): string {
  return TEXTS[code] ?? "Single sign-on failed. Try again.";
}
