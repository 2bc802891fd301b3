"""bootstrappolicy.ClusterRoles, systemnamespaces: what a cluster has from its first moment.

The roles are those of a real cluster: a program that is bound to `view` here may do there what it
did here. Left out are the roles of controllers that there are none of here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.authorization.bindings import GROUP as RBAC
from quintant.cluster.apiserver.meta.user import AUTHENTICATED, MASTERS, UNAUTHENTICATED
from quintant.cluster.apiserver.validation.flow_control.bootstrap import (
    flow_schemas,
    priority_levels,
)

FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"
NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")

_PRIORITIES = {
    "system-node-critical": (2_000_001_000, "For pods that their node cannot do without."),
    "system-cluster-critical": (2_000_000_000, "For pods that the cluster cannot do without."),
}
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
_READ = "get,list,watch"
_WRITE = "create,delete,deletecollection,patch,update"
_ALL = "create,delete,deletecollection,get,list,patch,update,watch"
_HEALTH = "/healthz /livez /readyz /version /version/"
_DISCOVERY = (
    "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"
)
_METRICS = (
    "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz"
)
_ISSUER = (
    "/.well-known/openid-configuration /.well-known/openid-configuration/ "
    "/openid/v1/jwks /openid/v1/jwks/"
)

# A line is a rule: verbs, API groups (- is the core group), resources or paths.
_VIEW = f"""
{_READ} - configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status
{_READ} - bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status
{_READ} - namespaces
{_READ} -,events.k8s.io events
{_READ} discovery.k8s.io endpointslices
{_READ} apps controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status
{_READ} autoscaling horizontalpodautoscalers horizontalpodautoscalers/status
{_READ} batch cronjobs cronjobs/status jobs jobs/status
{_READ} extensions daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale
{_READ} policy poddisruptionbudgets poddisruptionbudgets/status
{_READ} networking.k8s.io ingresses ingresses/status networkpolicies
{_READ} resource.k8s.io resourceclaims resourceclaims/status resourceclaimtemplates
"""  # noqa: E501
_EDIT = f"""
{_READ} - pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy
impersonate - serviceaccounts
{_WRITE} - pods pods/attach pods/exec pods/portforward pods/proxy
create - pods/eviction
{_WRITE} - configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy
create - serviceaccounts/token
{_WRITE} -,events.k8s.io events
{_WRITE} apps daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale
{_WRITE} autoscaling horizontalpodautoscalers
{_WRITE} batch cronjobs jobs
{_WRITE} extensions daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale
{_WRITE} policy poddisruptionbudgets
{_WRITE} networking.k8s.io ingresses networkpolicies
{_ALL} coordination.k8s.io leases
{_WRITE} resource.k8s.io resourceclaims resourceclaimtemplates
"""  # noqa: E501
_ADMIN = f"""
create authorization.k8s.io localsubjectaccessreviews
{_ALL} rbac.authorization.k8s.io rolebindings roles
"""
_BASIC = """
create authorization.k8s.io selfsubjectaccessreviews selfsubjectrulesreviews
create authentication.k8s.io selfsubjectreviews
"""
_DELEGATOR = """
create authentication.k8s.io tokenreviews
create authorization.k8s.io subjectaccessreviews
"""


class _Role(Struct, frozen=True):
    """A cluster role: its rules, the groups it is bound to, and how it is gathered."""

    rules: str = ""
    groups: tuple[str, ...] = ()
    part_of: str = ""
    """The role that gathers this one."""
    gathers: bool = False
    """Its rules are those of the roles that are part of it."""


_ROLES = {
    "cluster-admin": _Role("* * *\n* *", (MASTERS,)),
    "system:discovery": _Role(f"get {_DISCOVERY}", (AUTHENTICATED,)),
    "system:basic-user": _Role(_BASIC, (AUTHENTICATED,)),
    "system:public-info-viewer": _Role(f"get {_HEALTH}", (AUTHENTICATED, UNAUTHENTICATED)),
    "system:monitoring": _Role(f"get {_METRICS}\nget - nodes/metrics", ("system:monitoring",)),
    "system:service-account-issuer-discovery": _Role(f"get {_ISSUER}", ("system:serviceaccounts",)),
    "system:auth-delegator": _Role(_DELEGATOR),
    "system:aggregate-to-view": _Role(_VIEW, part_of="view"),
    "system:aggregate-to-edit": _Role(_EDIT, part_of="edit"),
    "system:aggregate-to-admin": _Role(_ADMIN, part_of="admin"),
    "view": _Role(part_of="edit", gathers=True),
    "edit": _Role(part_of="admin", gathers=True),
    "admin": _Role(gathers=True),
}


class FirstObject(Struct, frozen=True):
    """An object to create, if it is not there; its content is made then."""

    group: str
    plural: str
    name: str
    content: Callable[[], dict[str, Any]]


def first_objects() -> Iterator[FirstObject]:
    """Each object, in the order they are created."""
    for name in NAMESPACES:
        yield FirstObject("", "namespaces", name, partial(_named, name))
    for name, (value, description) in _PRIORITIES.items():
        content = partial(_named, name, value=value, description=description)
        yield FirstObject("scheduling.k8s.io", "priorityclasses", name, content)
    for name, role in _ROLES.items():
        yield FirstObject(RBAC, "clusterroles", name, partial(_cluster_role, name, role))
        if role.groups:
            binding = partial(_binding, name, role.groups)
            yield FirstObject(RBAC, "clusterrolebindings", name, binding)


def flow_control_objects() -> Iterator[FirstObject]:
    """The objects of priority and fairness, in the order they are created."""
    levels, schemas = priority_levels(), flow_schemas()
    for plural, specs in (("prioritylevelconfigurations", levels), ("flowschemas", schemas)):
        for name, spec in specs.items():
            yield FirstObject(FLOW_CONTROL, plural, name, partial(_flow_control, name, spec))


def _flow_control(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    annotations = {"apf.kubernetes.io/autoupdate-spec": "true"}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": deepcopy(spec)}


def _named(name: str, **more: object) -> dict[str, Any]:
    return {"metadata": {"name": name}, **more}


def _cluster_role(name: str, role: _Role) -> dict[str, Any]:
    gathered = {_label(role.part_of): "true"} if role.part_of else {}
    selector = {"matchLabels": {_label(name): "true"}}
    return {
        "metadata": {"name": name, "labels": _LABELS | gathered, "annotations": _ANNOTATIONS},
        "rules": [_rule(*line.split()) for line in role.rules.strip().splitlines()],
        **({"aggregationRule": {"clusterRoleSelectors": [selector]}} if role.gathers else {}),
    }


def _rule(verbs: str, first: str, *rest: str) -> dict[str, Any]:
    if first.startswith("/") or not rest:
        return {"verbs": verbs.split(","), "nonResourceURLs": [first, *rest]}
    groups = ["" if group == "-" else group for group in first.split(",")]
    return {"verbs": verbs.split(","), "apiGroups": groups, "resources": list(rest)}


def _binding(name: str, groups: tuple[str, ...]) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": _LABELS, "annotations": _ANNOTATIONS},
        "subjects": [{"kind": "Group", "apiGroup": RBAC, "name": group} for group in groups],
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
    }


def _label(role: str) -> str:
    return f"rbac.authorization.k8s.io/aggregate-to-{role}"
