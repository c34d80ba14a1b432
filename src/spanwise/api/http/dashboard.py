"""Serves the files of the built dashboard, which are part of this package."""

from collections.abc import Mapping
from mimetypes import guess_type
from os.path import isfile, normpath
from pathlib import Path

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

FOLDER = Path(__file__).parents[2] / "web_dist"

_INDEX = "index.html"
# The build also writes compressed copies of files; the smallest encoding comes first.
_ENCODINGS = {"br": ".br", "gzip": ".gz"}
_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Spanwise</title>
<h1>The dashboard is not built</h1>
<p>Run <code>make setup</code> in the checkout and start the service again.</p>
<p>The API works without it: see <a href="/api/docs">its interactive page</a>.</p>
</html>
"""


def install_dashboard(app: FastAPI, folder: Path = FOLDER) -> None:
    """Serve files and the index page for paths that match no route."""
    app.router.default = Dashboard(folder, fallback=app.router.default)


class Dashboard:
    """Serves files, and the index page for any other path that a browser opens.

    Files with a hash in their name may be cached forever.
    """

    def __init__(self, folder: Path, fallback: ASGIApp) -> None:
        self._folder = folder.resolve()
        self._fallback = fallback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._find(scope) or self._fallback)(scope, receive, send)

    def _find(self, scope: Scope) -> Response | None:
        if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"}:
            return None
        headers, name = Headers(scope=scope), scope["path"].removeprefix("/")
        if name != _INDEX and self._has(name):
            is_hashed = name.startswith("assets/")
            cache_control = "public, max-age=31536000, immutable" if is_hashed else "no-cache"
            return self._send(name, headers, {"Cache-Control": cache_control})
        # Uptime checks and curl request `/` without accepting HTML.
        if name and (name.partition("/")[0] in {"api", "assets"} or not _is_browser(headers)):
            return None
        page_headers = {"Cache-Control": "no-cache", "Content-Security-Policy": _POLICY}
        if not self._has(_INDEX):
            return HTMLResponse(_NOT_BUILT, status_code=404, headers=page_headers)
        return self._send(_INDEX, headers, page_headers)

    def _has(self, name: str) -> bool:
        # Checked on every request, so that a new build is served without a restart.
        path = normpath(self._folder / name)
        # pathlib raises for names that no file can have.
        return Path(path).is_relative_to(self._folder) and isfile(path)  # noqa: PTH113

    def _send(self, name: str, request_headers: Headers, headers: Mapping[str, str]) -> Response:
        response_headers = {**headers, "Vary": "Accept-Encoding"}
        path = self._folder / name
        accepted = {word.strip() for word in request_headers.get("accept-encoding", "").split(",")}
        for encoding, suffix in _ENCODINGS.items():
            if encoding in accepted and self._has(name + suffix):
                path = self._folder / (name + suffix)
                response_headers["Content-Encoding"] = encoding
                break
        media_type = guess_type(name)[0] or "application/octet-stream"
        return FileResponse(path, headers=response_headers, media_type=media_type)


def _is_browser(headers: Headers) -> bool:
    return "text/html" in headers.get("accept", "")
