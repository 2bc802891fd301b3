"""The page's own files, which come with the program."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from quintant.http.request import Request
from quintant.http.response import Response
from quintant.http.routes import NOT_FOUND

FOLDER = Path(__file__).parents[1] / "static"
SHELL = "index.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def serve_file(request: Request, name: str) -> Response:
    """A file of the page; what is no plain name of one is not found."""
    path = FOLDER / name
    if not _NAME.fullmatch(name) or path.suffix not in TYPES or not path.is_file():
        return NOT_FOUND
    body = path.read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"content-type": TYPES[path.suffix], "etag": tag, "cache-control": "no-cache"}
    if request.field(b"if-none-match") == tag:
        return Response(304, headers)
    return Response(200, headers, body)
