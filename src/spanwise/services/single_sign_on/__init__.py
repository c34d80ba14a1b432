"""Single sign-on with OpenID Connect: authorization code with PKCE.

The provider client is httpx2 and PyJWT. The flow is three requests, and a larger library would
still leave what matters here to us: bounded responses, caches, and the cookie that binds a sign-in
to a browser.
"""
