"""PathRecorderMux: paths beside the API, for administrators alone.

A real server has /debug and /metrics there. Roles are asked first, as for every path that is no
resource; a role for all paths (cluster-admin has one) does not suffice: what is served here
exchanges the whole cluster, so only members of system:masters may use it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.authorization.rbac import forbidden_request
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import REQUEST_LIMIT
from quintant.cluster.apiserver.meta.user import MASTERS, User

Handler = Callable[[ApiRequest], Awaitable[ApiResponse]]
"""Answers a request for a path; StatusError for one that makes no sense."""


class _Route(Struct, frozen=True):
    handler: Handler
    most: int


class PathRecorderMux:
    """Handlers by their exact paths."""

    def __init__(self) -> None:
        self._routes: dict[str, _Route] = {}

    def handle(self, path: str, handler: Handler, most: int = REQUEST_LIMIT) -> None:
        """Serve a path; bodies of requests have at most so many bytes."""
        self._routes[path] = _Route(handler, most)

    def handler(self, path: str) -> Handler | None:
        """Who answers a path, if somebody does."""
        route = self._routes.get(path)
        return None if route is None else route.handler

    def authorize(self, user: User, request_info: RequestInfo) -> None:
        """403 for a path of administrators, unless the user is one."""
        if request_info.path in self._routes and MASTERS not in user.groups:
            raise forbidden_request(user, request_info)

    def max_request_body_bytes(self, path: str) -> int:
        """How large the body of a request for a path may be."""
        route = self._routes.get(path)
        return REQUEST_LIMIT if route is None else route.most
