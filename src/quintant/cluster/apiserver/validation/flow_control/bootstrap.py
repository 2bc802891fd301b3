"""MandatoryFlowSchemas, SuggestedFlowSchemas: the flow control that a cluster begins with.

A priority level limits requests, unless it is exempt; a schema says whose requests belong to one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.meta.user import AUTHENTICATED, MASTERS, UNAUTHENTICATED

CATCH_ALL, EXEMPT = "catch-all", "exempt"
MANDATORY = frozenset({CATCH_ALL, EXEMPT})
_QUEUE_LENGTH = 50
_NODES = "Group system:nodes"
_EVERYBODY = (f"Group {UNAUTHENTICATED}", f"Group {AUTHENTICATED}")
_MANAGER, _SCHEDULER = "User system:kube-controller-manager", "User system:kube-scheduler"
_SYSTEM_ACCOUNTS = "ServiceAccount kube-system/*"


class _Limits(Struct, frozen=True):
    """The shares of a level, what it lends, and its queues: how many, and how many of one flow."""

    shares: int
    lendable: int
    queues: int
    hand: int


class _Schema(Struct, frozen=True):
    """Whose requests for what belong to a level."""

    level: str
    precedence: int
    method: str
    subjects: tuple[str, ...]
    resources: tuple[str, ...] = ("* * *",)
    """Each with verbs, groups and resources; in any namespace, and in none unless it ends so."""
    paths: str = "* *"


_LEVELS = {
    "global-default": _Limits(20, 50, 128, 6),
    "leader-election": _Limits(10, 0, 16, 4),
    "node-high": _Limits(40, 25, 64, 6),
    "system": _Limits(30, 33, 64, 6),
    "workload-high": _Limits(40, 50, 128, 6),
    "workload-low": _Limits(100, 90, 128, 6),
}
_LEASES = "coordination.k8s.io leases namespaced"
_SCHEMAS = {
    EXEMPT: _Schema(EXEMPT, 1, "", (f"Group {MASTERS}",)),
    "probes": _Schema(EXEMPT, 2, "", _EVERYBODY, (), "get /healthz,/readyz,/livez"),
    "system-leader-election": _Schema(
        "leader-election",
        100,
        "ByUser",
        (_MANAGER, _SCHEDULER, _SYSTEM_ACCOUNTS),
        (f"get,create,update {_LEASES}",),
        "",
    ),
    "system-node-high": _Schema(
        "node-high", 400, "ByUser", (_NODES,), ("* - nodes,nodes/status", f"* {_LEASES}"), ""
    ),
    "system-nodes": _Schema("system", 500, "ByUser", (_NODES,)),
    "kube-controller-manager": _Schema("workload-high", 800, "ByNamespace", (_MANAGER,)),
    "kube-scheduler": _Schema("workload-high", 800, "ByNamespace", (_SCHEDULER,)),
    "kube-system-service-accounts": _Schema(
        "workload-high", 900, "ByNamespace", (_SYSTEM_ACCOUNTS,)
    ),
    "service-accounts": _Schema("workload-low", 9000, "ByUser", ("Group system:serviceaccounts",)),
    "global-default": _Schema("global-default", 9900, "ByUser", _EVERYBODY),
    CATCH_ALL: _Schema(CATCH_ALL, 10_000, "ByUser", _EVERYBODY),
}


@cache
def priority_levels() -> dict[str, dict[str, Any]]:
    """The spec of every level, by its name."""
    rejected = {"shares": 5, "lendable": 0}
    return {
        EXEMPT: {
            "type": "Exempt",
            "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0},
        },
        CATCH_ALL: _limited({"type": "Reject"}, **rejected),
        **{name: _queued(limits) for name, limits in _LEVELS.items()},
    }


@cache
def flow_schemas() -> dict[str, dict[str, Any]]:
    """The spec of every schema, by its name."""
    return {name: _spec(schema) for name, schema in _SCHEMAS.items()}


def _queued(limits: _Limits) -> dict[str, Any]:
    queuing = {
        "queues": limits.queues,
        "handSize": limits.hand,
        "queueLengthLimit": _QUEUE_LENGTH,
    }
    response = {"type": "Queue", "queuing": queuing}
    return _limited(response, shares=limits.shares, lendable=limits.lendable)


def _limited(response: dict[str, Any], *, shares: int, lendable: int) -> dict[str, Any]:
    limited = {
        "nominalConcurrencyShares": shares,
        "limitResponse": response,
        "lendablePercent": lendable,
    }
    return {"type": "Limited", "limited": limited}


def _spec(schema: _Schema) -> dict[str, Any]:
    rules: dict[str, Any] = {"subjects": [_subject(each) for each in schema.subjects]}
    if schema.resources:
        rules["resourceRules"] = [_resource_rule(*each.split()) for each in schema.resources]
    if schema.paths:
        verbs, urls = schema.paths.split()
        rules["nonResourceRules"] = [
            {"verbs": verbs.split(","), "nonResourceURLs": urls.split(",")}
        ]
    return {
        "priorityLevelConfiguration": {"name": schema.level},
        "matchingPrecedence": schema.precedence,
        **({"distinguisherMethod": {"type": schema.method}} if schema.method else {}),
        "rules": [rules],
    }


def _subject(text: str) -> dict[str, Any]:
    kind, name = text.split()
    if kind == "ServiceAccount":
        namespace, account = name.split("/")
        return {"kind": kind, "serviceAccount": {"namespace": namespace, "name": account}}
    return {"kind": kind, kind.lower(): {"name": name}}


def _resource_rule(verbs: str, groups: str, resources: str, scope: str = "") -> dict[str, Any]:
    return {
        "verbs": verbs.split(","),
        "apiGroups": ["" if group == "-" else group for group in groups.split(",")],
        "resources": resources.split(","),
        **({} if scope else {"clusterScope": True}),
        "namespaces": ["*"],
    }
