"""library.Authz: the variable `authorizer`: whether a user may do something.

    authorizer.group("apps").resource("deployments").namespace("a").check("create").allowed()

Everything before `check` only collects what is asked; `check` asks whoever decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from quintant.cluster.apiserver.cel.functions import Function
from quintant.cluster.apiserver.cel.types import CelType
from quintant.cluster.apiserver.cel.values import CelError, OpaqueValue

_PREFIX = "kubernetes.authorization."
RESOURCE_CHECK = CelType(f"{_PREFIX}ResourceCheck")
AUTHORIZER = CelType(f"{_PREFIX}Authorizer", fields={"requestResource": RESOURCE_CHECK})
_GROUP, _PATH, _DECISION = (f"{_PREFIX}{name}" for name in ("GroupCheck", "PathCheck", "Decision"))
_ACCOUNT = "system:serviceaccount:{}:{}"


@dataclass(frozen=True, slots=True)
class AuthorizerCheck:
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
class CheckDecision:
    """The answer to a question."""

    allowed: bool
    reason: str = ""


Decide = Callable[[AuthorizerCheck], CheckDecision]


def authorizer(decide: Decide, resource: AuthorizerCheck) -> dict[str, OpaqueValue]:
    """The value of `authorizer`; `resource` is what the request itself is about."""
    return AuthorizerValue(AuthorizerCheck(decide), OpaqueValue(RESOURCE_CHECK.name, resource))


class AuthorizerValue(dict[str, OpaqueValue]):
    """Whom to ask, with what the request itself is about as its only field."""

    def __init__(self, start: AuthorizerCheck, resource: OpaqueValue) -> None:
        super().__init__(requestResource=resource)
        self.start = start


def _account(asker: AuthorizerValue, namespace: str, name: str) -> AuthorizerValue:
    account = _ACCOUNT.format(namespace, name)
    return AuthorizerValue(replace(asker.start, account=account), asker["requestResource"])


def _path(asker: AuthorizerValue, path: str) -> OpaqueValue:
    if not path:
        raise CelError("path must not be empty")
    return OpaqueValue(_PATH, replace(asker.start, path=path))


def _resource(check: OpaqueValue, resource: str) -> OpaqueValue:
    if not resource:
        raise CelError("resource must not be empty")
    return OpaqueValue(RESOURCE_CHECK.name, replace(check.value, resource=resource))


def _check(check: OpaqueValue, verb: str) -> OpaqueValue:
    verb_check: AuthorizerCheck = replace(check.value, verb=verb)
    return OpaqueValue(_DECISION, verb_check.decide(verb_check))


def _with(name: str) -> Function:
    return lambda check, value: OpaqueValue(
        RESOURCE_CHECK.name, replace(check.value, **{name: value})
    )


AUTHORIZATION: dict[str, Function] = {
    "group": lambda asker, group: OpaqueValue(_GROUP, replace(asker.start, group=group)),
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
