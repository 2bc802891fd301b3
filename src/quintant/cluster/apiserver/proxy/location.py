"""SplitSchemeNamePort, JoinPreservingTrailingSlash: what a path with `proxy` in it means. Pure.

`/api/v1/namespaces/NS/pods/https:web:8443/proxy/a/b` is `/a/b` at port 8443 of the pod `web`, over
TLS. Roles name such a pod as it stands there: the scheme and the port are parts of the name.
"""

from __future__ import annotations

import posixpath

from msgspec import Struct

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import bad_request

_SCHEMES = ("", "http", "https")
_SEGMENTS = 3
"""Slashes before the subpath: after the resource, the name and `proxy`."""


PATH_SAFE = "/!$&'()*+,;=:@-._~"
"""What a path may hold as it is."""


class ProxyTarget(Struct, frozen=True):
    """Whom a request is for, as its path says it."""

    name: str
    port: str = ""
    """A number or the name of a port; empty for the only one, or the first."""
    secure: bool = False


def read_target(name: str, what: str) -> ProxyTarget:
    """`name`, `name:port` or `scheme:name:port`; 400 for anything else."""
    parts = name.split(":")
    if len(parts) > _SEGMENTS:
        raise bad_request(f"invalid {what} request {quoted(name)}")
    scheme, host, port = {
        1: ("", parts[0], ""),
        2: ("", parts[0], parts[-1]),
        3: (parts[0], parts[len(parts) // 2], parts[-1]),
    }[len(parts)]
    if not host or scheme not in _SCHEMES:
        raise bad_request(f"invalid {what} request {quoted(name)}")
    return ProxyTarget(host, port, scheme == "https")


def option_path(request_info: RequestInfo) -> str:
    """What follows `proxy` in a path: the `path` of PodProxyOptions."""
    _, slash, rest = request_info.subresource.partition("/")
    path = rest if rest.startswith("/") else f"{slash}{rest}"
    if request_info.path.endswith("/") and not path.endswith("/"):
        path += "/"
    return path


def location_path(path: str) -> str:
    """The path at the pod: without empty and dotted segments, with the slash that it ended with."""
    return join_path(path) if path else ""


def join_path(*parts: str) -> str:
    """Parts as one clean path, absolute; it ends with a slash if the last part does."""
    joined = posixpath.normpath("/" + "/".join(parts).lstrip("/"))
    return f"{joined}/" if parts[-1].endswith("/") and joined != "/" else joined
