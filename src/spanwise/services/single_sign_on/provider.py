"""The OpenID Connect provider: discovery, the authorization request, and the exchange of a code."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

from spanwise.services.single_sign_on.attempts import Attempt
from spanwise.services.single_sign_on.id_tokens import IdTokenVerifier
from spanwise.services.single_sign_on.provider_http import CachedDocument, Json, ProviderHttp
from spanwise.services.single_sign_on.refusals import Reason, SignInRefused

_DISCOVERY_PATH = "/.well-known/openid-configuration"
_OK = 200


@dataclass(frozen=True)
class ClientConfig:
    """What the provider knows about this installation."""

    issuer: str
    client_id: str
    client_secret: str
    redirect_uri: str
    scopes: str


@dataclass(frozen=True)
class Metadata:
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    # The secret goes into the Authorization header, which is the default, or into the form.
    uses_basic_auth: bool


class Provider:
    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._http = ProviderHttp()
        self._metadata = CachedDocument(self._discover)
        keys = CachedDocument(self._fetch_keys)
        self._verifier = IdTokenVerifier(config.client_id, keys)

    async def close(self) -> None:
        await self._http.close()

    async def authorization_url(self, attempt: Attempt) -> str:
        """Return where the browser goes to sign in."""
        endpoint = (await self._metadata.get()).authorization_endpoint
        query = {
            "response_type": "code",
            "client_id": self._config.client_id,
            "redirect_uri": self._config.redirect_uri,
            "scope": self._config.scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    async def exchange_code(
        self, attempt: Attempt, code: str, issuer: str | None, wanted_claims: Sequence[str]
    ) -> Json:
        """Exchange the code for the claims about the person.

        Claims that the ID token lacks are looked up at the userinfo endpoint.
        """
        metadata = await self._metadata.get()
        # RFC 9207: the response of another provider must not reach this one.
        if issuer is not None and issuer != metadata.issuer:
            raise SignInRefused(Reason.TOKEN_REJECTED, f"the response is of {issuer}")
        answer = await self._request_tokens(metadata, attempt, code)
        claims = await self._verifier.verify(
            str(answer.get("id_token", "")), metadata.issuer, attempt.nonce
        )
        access_token = answer.get("access_token")
        is_complete = all(name in claims for name in wanted_claims)
        if is_complete or metadata.userinfo_endpoint is None or not isinstance(access_token, str):
            return claims
        more = await self._http.get(
            metadata.userinfo_endpoint, Authorization=f"Bearer {access_token}"
        )
        if more.get("sub") != claims["sub"]:
            raise SignInRefused(Reason.TOKEN_REJECTED, "userinfo is about another person")
        return merge_claims(claims, more)

    async def _request_tokens(self, metadata: Metadata, attempt: Attempt, code: str) -> Json:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._config.redirect_uri,
            "code_verifier": attempt.verifier,
        }
        client_id, secret = self._config.client_id, self._config.client_secret
        auth = None
        if metadata.uses_basic_auth:
            # RFC 6749, 2.3.1: both are encoded before they are joined.
            auth = (quote(client_id, safe=""), quote(secret, safe=""))
        else:
            form |= {"client_id": client_id, "client_secret": secret}
        status, answer = await self._http.post_form(metadata.token_endpoint, form, auth)
        if status != _OK:
            problem = f"{answer.get('error')}: {answer.get('error_description')}"
            raise SignInRefused(Reason.TOKEN_REJECTED, f"the code was rejected: {problem}")
        return answer

    async def _discover(self) -> Metadata:
        url = self._config.issuer.rstrip("/") + _DISCOVERY_PATH
        return read_metadata(await self._http.get(url), self._config.issuer)

    async def _fetch_keys(self) -> Json:
        return await self._http.get((await self._metadata.get()).jwks_uri)


def merge_claims(claims: Json, more: Json) -> Json:
    """Add claims of the userinfo endpoint to those of the ID token, which take precedence.

    A verification counts only for the address that it was given with.
    """
    merged = {**more, **claims}
    if "email" not in claims:
        merged["email_verified"] = more.get("email_verified")
    elif "email_verified" not in claims and more.get("email") != claims["email"]:
        merged["email_verified"] = None
    return merged


def read_metadata(document: Json, issuer: str) -> Metadata:
    """Check a discovery document: its issuer, and that its endpoints are as safe as the issuer."""
    schemes = ("https://", f"{urlsplit(issuer).scheme}://")

    def endpoint(name: str) -> str:
        url = document.get(name)
        if not isinstance(url, str) or not url.startswith(schemes):
            raise SignInRefused(Reason.PROVIDER_UNAVAILABLE, f"discovery: {name} is {url!r}")
        return url

    stated = document.get("issuer")
    # Providers and people disagree about the slash at the end; tokens must repeat `stated` exactly.
    if not isinstance(stated, str) or stated.rstrip("/") != issuer.rstrip("/"):
        raise SignInRefused(Reason.PROVIDER_UNAVAILABLE, f"discovery: the issuer is {stated!r}")
    methods = document.get("token_endpoint_auth_methods_supported")
    has_userinfo = document.get("userinfo_endpoint") is not None
    return Metadata(
        issuer=stated,
        authorization_endpoint=endpoint("authorization_endpoint"),
        token_endpoint=endpoint("token_endpoint"),
        jwks_uri=endpoint("jwks_uri"),
        userinfo_endpoint=endpoint("userinfo_endpoint") if has_userinfo else None,
        uses_basic_auth=not isinstance(methods, list) or "client_secret_basic" in methods,
    )
