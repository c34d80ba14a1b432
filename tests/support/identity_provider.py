"""A strict OpenID Connect provider on a free port, which can be told to misbehave.

It authorizes everybody at once. `support.provider_process` is a real one with a form.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

CLIENT_ID = "spanwise client"
CLIENT_SECRET = "s3cret: with+signs"


@dataclass(frozen=True)
class SigningKey:
    kid: str
    private: RSAPrivateKey

    @property
    def public(self) -> dict[str, Any]:
        jwk = jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return {**jwk, "kid": self.kid, "use": "sig"}


def new_signing_key() -> SigningKey:
    return SigningKey(secrets.token_hex(8), generate_private_key(65537, 2048))


@dataclass
class IdentityProvider:
    """Its answers are set before a sign-in; `requests` lists the paths that were called."""

    port: int
    # Claims of the person who signs in.
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    # Replaces claims of the ID token, such as the nonce.
    replaced: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    # Paths that answer with this status or body.
    broken: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    key: SigningKey = field(default_factory=new_signing_key)
    requests: list[str] = field(default_factory=list)
    # The requests that issued codes, by code.
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        return {
            "oidc_issuer": self.issuer,
            "oidc_client_id": CLIENT_ID,
            "oidc_client_secret": CLIENT_SECRET,
        }

    def rotate_key(self) -> None:
        self.key = new_signing_key()

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            **self.metadata,
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Return the redirect with a new code."""
        wanted = {"response_type": "code", "code_challenge_method": "S256", "client_id": CLIENT_ID}
        assert wanted.items() <= query.items(), query
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        answer = {"code": code, "state": query["state"], "iss": self.issuer}
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def exchange(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        if self._client_of(form, authorization) != (CLIENT_ID, CLIENT_SECRET):
            return 401, {"error": "invalid_client"}
        # Works once.
        query = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if query is None or query["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant", "error_description": "unknown code"}
        if query["code_challenge"] != challenge:
            return 400, {"error": "invalid_grant", "error_description": "wrong verifier"}
        return 200, {"id_token": self.sign(query["nonce"]), "access_token": "open sesame"}

    def _client_of(self, form: dict[str, str], authorization: str) -> tuple[str, ...]:
        if authorization:
            decoded = base64.b64decode(authorization.removeprefix("Basic ")).decode()
            return tuple(unquote(part) for part in decoded.split(":"))
        return form.get("client_id", ""), form.get("client_secret", "")

    def sign(self, nonce: str, algorithm: str = "RS256") -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": "248289761001",
            "aud": CLIENT_ID,
            "exp": now + 300,
            "iat": now,
            "nonce": nonce,
            **self.claims,
            **self.replaced,
        }
        return jwt.encode(claims, self.key.private, algorithm, headers={"kid": self.key.kid})


@contextmanager
def identity_provider() -> Iterator[IdentityProvider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = self._open()
            if path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(query))
                self.end_headers()
            elif path == "/userinfo":
                assert self.headers["Authorization"] == "Bearer open sesame"
                self._send(200, {"sub": "248289761001", **provider.userinfo})
            elif path == "/jwks":
                self._send(200, {"keys": [provider.key.public]})
            else:
                self._send(200, provider.discovery())

        def do_POST(self) -> None:
            self._open()
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            authorization = self.headers.get("Authorization", "")
            self._send(*provider.exchange(dict(parse_qsl(body)), authorization))

        def _open(self) -> tuple[str, dict[str, str]]:
            parts = urlsplit(self.path)
            provider.requests.append(parts.path)
            return parts.path, dict(parse_qsl(parts.query))

        def _send(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            status, body = provider.broken.get(urlsplit(self.path).path, (status, body))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = IdentityProvider(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
