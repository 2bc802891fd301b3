"""RequestInfoFactory: from a URL to verb, resource, namespace, name and subresource.

Only the path's grammar is known here, not which resources exist: authorisation has to be able to
say no before the server says that something is not there.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from quintant.client.transport import ApiRequest

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
OTHER_VERB = ""
"""What roles know of methods such as OPTIONS: no verb but `*` allows it."""
PROXY = "proxy"
PROXIED = frozenset({"nodes", "pods", "services"})
"""What stands for other servers: below `proxy`, a path is theirs."""
# Paths below a namespace object that are its own subresources, not resources inside it.
_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})
_FALSE = frozenset({"0", "false"})


class RequestInfo(Struct, frozen=True):
    """What a request asks for. Without a `resource` it is about the path itself."""

    verb: str
    path: str
    group: str = ""
    version: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def is_proxied(self) -> bool:
        """Whether what follows in the path is another server's."""
        if self.group or self.resource not in PROXIED:
            return False
        return self.subresource.partition("/")[0] == PROXY

    @property
    def full_resource(self) -> str:
        """`pods/status`, as roles name it: what follows `pods/proxy` in a path is the pod's own."""
        subresource = self.subresource.partition("/")[0]
        return f"{self.resource}/{subresource}" if subresource else self.resource


def flag(query: Mapping[str, str], name: str) -> bool:
    """Whether a query says yes: whatever is there and does not say no."""
    return name in query and query[name].lower() not in _FALSE


def segments(path: str) -> list[str]:
    """The parts of a path; what ends with slashes is what it is without them."""
    return path.rstrip("/").split("/")[1:]


def request_info(call: ApiRequest) -> RequestInfo:
    """Read a request's method, path and the query parameters that decide its verb."""
    match segments(call.path):
        case ["api", version, *rest] if version and rest:
            group = ""
        case ["apis", group, version, *rest] if version and rest:
            pass
        case _:
            return RequestInfo(call.method.lower(), call.path)
    watching = rest[0] == "watch" and len(rest) > 1
    return _resource_route(call, group, version, rest[1:] if watching else rest, watching)


def _resource_route(
    call: ApiRequest, group: str, version: str, rest: list[str], watching: bool
) -> RequestInfo:
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    resource, name, *_ = (*rest, "")
    if not resource or (not name and len(rest) > 1):
        return RequestInfo(call.method.lower(), call.path)
    if resource == "namespaces" and not group:
        namespace = name
    verb = _verb(call, name, watching)
    return RequestInfo(
        verb, call.path, group, version, resource, namespace, name, "/".join(rest[2:])
    )


def _verb(call: ApiRequest, name: str, watching: bool) -> str:
    if watching:
        return "watch"
    if call.method in ("GET", "HEAD"):
        if name:
            return "get"
        return "watch" if flag(call.query, "watch") else "list"
    if call.method == "DELETE" and not name:
        return "deletecollection"
    return _VERBS.get(call.method, OTHER_VERB)
