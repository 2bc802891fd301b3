"""Which requests a fault is for, in words: `verb("patch") & kind(Pod)`, `watch(Pod)`, `~writes`.

Used with `FaultTransport` (quintant.testing.faults.transport).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from quintant.client.request_info import resource_path, verb_of
from quintant.client.transport import ApiRequest
from quintant.core.object import Object
from quintant.core.resource import resource_of

_WRITES = frozenset(("create", "update", "patch", "apply", "delete", "deletecollection"))


@dataclass(frozen=True, slots=True)
class RequestMatch:
    """A condition on a request; combine with `&`, `|` and `~`."""

    test: Callable[[ApiRequest], bool]

    def __call__(self, call: ApiRequest) -> bool:
        return self.test(call)

    def __and__(self, other: RequestMatch) -> RequestMatch:
        return RequestMatch(lambda call: self.test(call) and other.test(call))

    def __or__(self, other: RequestMatch) -> RequestMatch:
        return RequestMatch(lambda call: self.test(call) or other.test(call))

    def __invert__(self) -> RequestMatch:
        return RequestMatch(lambda call: not self.test(call))


anything: Final = RequestMatch(lambda call: True)
"""Every request."""
writes: Final = RequestMatch(lambda call: verb_of(call) in _WRITES and not _renews_lease(call))
"""What changes objects; who leads renews its lease every two seconds, and that does not count."""


def verb(*names: str) -> RequestMatch:
    """Requests with one of these verbs; an apply is also a patch."""
    wanted = {*names, *(["apply"] if "patch" in names else [])}
    return RequestMatch(lambda call: verb_of(call) in wanted)


def kind(
    of: type[Object], *, name: str = "", namespace: str = "", sub: str | None = None
) -> RequestMatch:
    """Requests about a kind: all of them, or those about one object, namespace or subresource."""
    resource = resource_of(of)

    def test(call: ApiRequest) -> bool:
        target = resource_path(call.path)
        return (
            (target.group, target.plural) == (resource.group, resource.plural)
            and name in ("", target.name)
            and namespace in ("", target.namespace)
            and sub in (None, target.sub)
        )

    return RequestMatch(test)


def _renews_lease(call: ApiRequest) -> bool:
    target = resource_path(call.path)
    return (target.group, target.plural) == ("coordination.k8s.io", "leases")


def watch(of: type[Object]) -> RequestMatch:
    """The watches of a kind."""
    return verb("watch") & kind(of)


def path(pattern: str) -> RequestMatch:
    """Requests whose path fits a pattern with `*`: `path("/api/v1/*/secrets/*")`."""
    return RequestMatch(lambda call: fnmatchcase(call.path, pattern))
