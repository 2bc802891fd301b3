"""Which requests a fault is for, in words: `verb("patch") & kind(Pod)`, `watch(Pod)`, `~writes`.

Used with `FaultTransport` (quintant.testing.faults.transport).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from quintant.client.request_info import target_of, verb_of
from quintant.client.transport import Call
from quintant.core.object import Object
from quintant.core.resource import resource_of

_WRITES = frozenset(("create", "update", "patch", "apply", "delete", "deletecollection"))


@dataclass(frozen=True, slots=True)
class Match:
    """A condition on a request; combine with `&`, `|` and `~`."""

    test: Callable[[Call], bool]

    def __call__(self, call: Call) -> bool:
        return self.test(call)

    def __and__(self, other: Match) -> Match:
        return Match(lambda call: self.test(call) and other.test(call))

    def __or__(self, other: Match) -> Match:
        return Match(lambda call: self.test(call) or other.test(call))

    def __invert__(self) -> Match:
        return Match(lambda call: not self.test(call))


anything = Match(lambda call: True)
writes = Match(lambda call: verb_of(call) in _WRITES)


def verb(*names: str) -> Match:
    """Requests with one of these verbs; an apply is also a patch."""
    wanted = {*names, *(["apply"] if "patch" in names else [])}
    return Match(lambda call: verb_of(call) in wanted)


def kind(of: type[Object], *, name: str = "", namespace: str = "", sub: str | None = None) -> Match:
    """Requests about a kind: all of them, or those about one object, namespace or subresource."""
    resource = resource_of(of)

    def test(call: Call) -> bool:
        target = target_of(call.path)
        return (
            (target.group, target.plural) == (resource.group, resource.plural)
            and name in ("", target.name)
            and namespace in ("", target.namespace)
            and sub in (None, target.sub)
        )

    return Match(test)


def watch(of: type[Object]) -> Match:
    """The watches of a kind."""
    return verb("watch") & kind(of)


def path(pattern: str) -> Match:
    """Requests whose path fits a pattern with `*`: `path("/api/v1/*/secrets/*")`."""
    return Match(lambda call: fnmatchcase(call.path, pattern))
