"""healthz.InstallHandler: /healthz, /livez, /readyz, their checks, `?verbose` and `?exclude=`.

A server that answers is healthy: its checks are there for those who ask for them by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.meta.status import PageNotFound

CHECKS = {
    "healthz": ("ping", "log", "etcd"),
    "livez": ("ping", "log", "etcd"),
    "readyz": ("ping", "log", "etcd", "informer-sync", "shutdown"),
}
"""The checks of each endpoint. Tools ask for `etcd`: it is whatever holds the objects."""
_TEXT = {"content-type": "text/plain; charset=utf-8"}
_UNGUESSED = {"x-content-type-options": "nosniff"}


def is_probe(path: str) -> bool:
    """Whether a path is about health."""
    return path.removeprefix("/").partition("/")[0] in CHECKS


def probe(path: str, query: Mapping[str, str]) -> ApiResponse:
    """The answer to a probe; 404 for a check that there is not."""
    endpoint, slash, name = path.removeprefix("/").partition("/")
    if slash:
        if name not in CHECKS[endpoint]:
            raise PageNotFound()
        return ApiResponse(200, b"ok", _TEXT)
    body = "".join(_lines(endpoint, query)) if "verbose" in query else "ok"
    return ApiResponse(200, body.encode(), _TEXT | _UNGUESSED)


def _lines(endpoint: str, query: Mapping[str, str]) -> Iterator[str]:
    excluded = query.get("exclude", "")
    for name in CHECKS[endpoint]:
        yield f"[+]{name} {'excluded: ' if name == excluded else ''}ok\n"
    if excluded and excluded not in CHECKS[endpoint]:
        yield f'warn: some health checks cannot be excluded: no matches for "{excluded}"\n'
    yield f"{endpoint} check passed\n"
