"""Asking in an expression whether somebody may do something.

    authorizer.group("apps").resource("deployments").namespace("a").check("create").allowed()

Everything before `check` only collects what is asked; `check` asks whoever decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from quintant.cluster.apiserver.cel.functions import Function
from quintant.cluster.apiserver.cel.types import Type
from quintant.cluster.apiserver.cel.values import CelError, Opaque

_PREFIX = "kubernetes.authorization."
RESOURCE_CHECK = Type(f"{_PREFIX}ResourceCheck")
AUTHORIZER = Type(f"{_PREFIX}Authorizer", fields={"requestResource": RESOURCE_CHECK})
_GROUP, _PATH, _DECISION = (f"{_PREFIX}{name}" for name in ("GroupCheck", "PathCheck", "Decision"))
_ACCOUNT = "system:serviceaccount:{}:{}"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: a verb on a path or a resource."""

    decide: Decide = field(repr=False)
    account: str = ""
    """The service account that is meant; empty for who asks."""
    path: str = ""
    group: str = ""
    resource: str = ""
    sub: str = ""
    namespace: str = ""
    name: str = ""
    verb: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The answer to a question."""

    allowed: bool
    reason: str = ""


Decide = Callable[[Question], Ruling]


def authorizer(decide: Decide, resource: Question) -> dict[str, Opaque]:
    """The value of `authorizer`; `resource` is what the request itself is about."""
    return Authorizer(Question(decide), Opaque(RESOURCE_CHECK.name, resource))


class Authorizer(dict[str, Opaque]):
    """Whom to ask, with what the request itself is about as its only field."""

    def __init__(self, start: Question, resource: Opaque) -> None:
        super().__init__(requestResource=resource)
        self.start = start


def _account(asker: Authorizer, namespace: str, name: str) -> Authorizer:
    account = _ACCOUNT.format(namespace, name)
    return Authorizer(replace(asker.start, account=account), asker["requestResource"])


def _path(asker: Authorizer, path: str) -> Opaque:
    if not path:
        raise CelError("path must not be empty")
    return Opaque(_PATH, replace(asker.start, path=path))


def _resource(check: Opaque, resource: str) -> Opaque:
    if not resource:
        raise CelError("resource must not be empty")
    return Opaque(RESOURCE_CHECK.name, replace(check.value, resource=resource))


def _check(check: Opaque, verb: str) -> Opaque:
    asked: Question = replace(check.value, verb=verb)
    return Opaque(_DECISION, asked.decide(asked))


def _with(name: str) -> Function:
    return lambda check, value: Opaque(RESOURCE_CHECK.name, replace(check.value, **{name: value}))


AUTHORIZATION: dict[str, Function] = {
    "group": lambda asker, group: Opaque(_GROUP, replace(asker.start, group=group)),
    "path": _path,
    "serviceAccount": _account,
    "resource": _resource,
    "subresource": _with("sub"),
    "namespace": _with("namespace"),
    "name": _with("name"),
    "check": _check,
    "allowed": lambda decision: decision.value.allowed,
    "reason": lambda decision: decision.value.reason,
    "errored": lambda decision: False,
    "error": lambda decision: "",
}
