"""The built-in kinds and their behaviour, as data.

Each row is a resource; the sets below name the exceptions to the default behaviour. A fact about a
kind belongs here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from quintant.cluster.apiserver import tables
from quintant.cluster.apiserver.conversion.autoscaling import to_v1, to_v2
from quintant.cluster.apiserver.conversion.events import to_core, to_group
from quintant.cluster.apiserver.crd import definition
from quintant.cluster.apiserver.defaulting.walk import defaulter
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    path_segment_errors,
)
from quintant.cluster.apiserver.meta.types import DeletionPropagation, JsonObject
from quintant.cluster.apiserver.registry import field_labels, generation
from quintant.cluster.apiserver.registry.assign import ASSIGN
from quintant.cluster.apiserver.registry.prepare_create import (
    NAMESPACE_FINALIZER,
    PREPARE_FOR_CREATE,
    keep_namespace_finalizers,
    terminate_namespace,
)
from quintant.cluster.apiserver.structuredmerge.builtin_schema import builtin_schema
from quintant.cluster.apiserver.validation import CHECKS, rbac
from quintant.core.errors import Cause
from quintant.core.resource import Resource, Scale

# group, version, kind, plural, short names, scope (N or C), has /status, categories
_ROWS = """
-                            v1 Namespace                      namespaces                      ns       C s -
-                            v1 Pod                            pods                            po       N s all
-                            v1 Service                        services                        svc      N s all
-                            v1 Endpoints                      endpoints                       ep       N - -
-                            v1 ConfigMap                      configmaps                      cm       N - -
-                            v1 Secret                         secrets                         -        N - -
-                            v1 ServiceAccount                 serviceaccounts                 sa       N - -
-                            v1 PersistentVolumeClaim          persistentvolumeclaims          pvc      N s -
-                            v1 PersistentVolume               persistentvolumes               pv       C s -
-                            v1 Node                           nodes                           no       C s -
-                            v1 Event                          events                          ev       N - -
-                            v1 LimitRange                     limitranges                     limits   N - -
-                            v1 PodTemplate                    podtemplates                    -        N - -
-                            v1 ReplicationController          replicationcontrollers          rc       N s all
-                            v1 ResourceQuota                  resourcequotas                  quota    N s -
apps                         v1 Deployment                     deployments                     deploy   N s all
apps                         v1 ReplicaSet                     replicasets                     rs       N s all
apps                         v1 StatefulSet                    statefulsets                    sts      N s all
apps                         v1 DaemonSet                      daemonsets                      ds       N s all
apps                         v1 ControllerRevision             controllerrevisions             -        N - -
autoscaling                  v2 HorizontalPodAutoscaler        horizontalpodautoscalers        hpa      N s all
autoscaling                  v1 HorizontalPodAutoscaler        horizontalpodautoscalers        hpa      N s all
batch                        v1 Job                            jobs                            -        N s all
batch                        v1 CronJob                        cronjobs                        cj       N s all
authentication.k8s.io        v1 SelfSubjectReview              selfsubjectreviews              -        C - -
authentication.k8s.io        v1 TokenReview                    tokenreviews                    -        C - -
authorization.k8s.io         v1 LocalSubjectAccessReview       localsubjectaccessreviews       -        N - -
authorization.k8s.io         v1 SelfSubjectAccessReview        selfsubjectaccessreviews        -        C - -
authorization.k8s.io         v1 SelfSubjectRulesReview         selfsubjectrulesreviews         -        C - -
authorization.k8s.io         v1 SubjectAccessReview            subjectaccessreviews            -        C - -
coordination.k8s.io          v1 Lease                          leases                          -        N - -
discovery.k8s.io             v1 EndpointSlice                  endpointslices                  -        N - -
events.k8s.io                v1 Event                          events                          ev       N - -
networking.k8s.io            v1 Ingress                        ingresses                       ing      N s -
networking.k8s.io            v1 IngressClass                   ingressclasses                  -        C - -
networking.k8s.io            v1 NetworkPolicy                  networkpolicies                 netpol   N - -
node.k8s.io                  v1 RuntimeClass                   runtimeclasses                  -        C - -
policy                       v1 PodDisruptionBudget            poddisruptionbudgets            pdb      N s -
rbac.authorization.k8s.io    v1 Role                           roles                           -        N - -
rbac.authorization.k8s.io    v1 RoleBinding                    rolebindings                    -        N - -
rbac.authorization.k8s.io    v1 ClusterRole                    clusterroles                    -        C - -
rbac.authorization.k8s.io    v1 ClusterRoleBinding             clusterrolebindings             -        C - -
scheduling.k8s.io            v1 PriorityClass                  priorityclasses                 pc       C - -
storage.k8s.io               v1 StorageClass                   storageclasses                  sc       C - -
admissionregistration.k8s.io v1 ValidatingWebhookConfiguration validatingwebhookconfigurations -        C - api-extensions
admissionregistration.k8s.io v1 MutatingWebhookConfiguration   mutatingwebhookconfigurations   -        C - api-extensions
apiextensions.k8s.io         v1 CustomResourceDefinition       customresourcedefinitions       crd,crds C s api-extensions
"""  # noqa: E501

# Groups of documents that only ask something.
_QUESTIONS = {"authentication.k8s.io", "authorization.k8s.io"}
_UPSERT = {
    *("leases", "endpoints", "events", "services", "limitranges", "runtimeclasses"),
    *("roles", "rolebindings", "clusterroles", "clusterrolebindings"),
}
# Where a real server keeps what, if that is not the name of the resource; some refusals tell.
_REGISTRY = {
    "endpoints": "services/endpoints",
    "ingresses": "ingress",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "services": "services/specs",
}
_ORPHANING = {
    "jobs": "child pods are preserved by default when jobs are deleted; set "
    "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this "
    "warning"
}
_DEPRECATED = {
    "endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
}
_CONDITIONAL = {
    *("customresourcedefinitions", "poddisruptionbudgets", "leases", "runtimeclasses"),
    *("validatingwebhookconfigurations", "mutatingwebhookconfigurations"),
}
_ANSWERS_OBJECT = {
    *("namespaces", "pods", "services", "persistentvolumeclaims", "persistentvolumes"),
    *("serviceaccounts", "storageclasses"),
    *("podtemplates", "replicationcontrollers", "resourcequotas"),
}
_NO_GENERATION = {
    *("namespaces", "nodes", "persistentvolumes", "persistentvolumeclaims", "services"),
    *("horizontalpodautoscalers", "resourcequotas"),
}
_STATUS_HOLDS = {
    "deployments": frozenset({"labels"}),
    "pods": frozenset({"ownerReferences"}),
}
# Without /status, and yet with a generation.
_GENERATION = {
    *("validatingwebhookconfigurations", "mutatingwebhookconfigurations"),
    *("endpointslices", "priorityclasses"),
    *("ingressclasses", "networkpolicies", "podtemplates"),
}
_PROPAGATION: dict[str, DeletionPropagation | None] = {
    "jobs": DeletionPropagation.ORPHAN,
    "replicationcontrollers": DeletionPropagation.ORPHAN,
    "events": None,
    "customresourcedefinitions": None,
}
_DYING = {"customresourcedefinitions": definition.on_delete, "namespaces": terminate_namespace}
_COMPLAINTS: dict[str, Callable[[JsonObject, JsonObject | None], Iterable[Cause]]] = {
    **CHECKS,
    "roles": rbac.role_complaints,
    "clusterroles": rbac.cluster_role_complaints,
    "rolebindings": rbac.binding_complaints,
    "clusterrolebindings": rbac.cluster_binding_complaints,
}
_DEFAULTS = {
    **dict.fromkeys(("rolebindings", "clusterrolebindings"), rbac.default_binding),
    "customresourcedefinitions": definition.default,
}
_REVISIONS = {
    "customresourcedefinitions": definition.prepare_for_update,
    "daemonsets": generation.bump_template_generation,
    "deployments": generation.bump_deployment_generation,
    "endpointslices": generation.bump_slice_generation,
    "namespaces": keep_namespace_finalizers,
}
_JUDGES = {"customresourcedefinitions": definition.validate}
_NAMING = {
    **dict.fromkeys(("namespaces", "services", "statefulsets"), dns1123_label_errors),
    **dict.fromkeys(("events", "poddisruptionbudgets"), path_segment_errors),
    **dict.fromkeys(("roles", "rolebindings"), path_segment_errors),
    **dict.fromkeys(("clusterroles", "clusterrolebindings"), path_segment_errors),
}
_NAMELESS = {"limitranges"}
_LATE = {"events", "poddisruptionbudgets"}
_UNQUALIFIED = {
    *("customresourcedefinitions", "events", "leases", "poddisruptionbudgets", "runtimeclasses"),
    *("validatingwebhookconfigurations", "mutatingwebhookconfigurations"),
}
_SCALED = {
    "deployments": Scale(selector=".spec.selector"),
    "replicasets": Scale(selector=".spec.selector"),
    "statefulsets": Scale(selector=".spec.selector"),
    "replicationcontrollers": Scale(selector=".spec.selector"),
}
# What is kept in another form, by its version.
_SHOWN = {
    "events.k8s.io/v1 Event": (to_group, to_core),
    "autoscaling/v1 HorizontalPodAutoscaler": (to_v1, to_v2),
}
# What is nobody's from the beginning, beside the structures that are always there.
_UNOWNED: dict[str, dict[str, Any]] = {
    "namespaces": {"spec": {"finalizers": [NAMESPACE_FINALIZER]}},
}


@cache
def builtin_kinds() -> tuple[Kind, ...]:
    """Every built-in kind."""
    return tuple(_kind(*row.split()) for row in _ROWS.strip().splitlines())


def _kind(
    group: str, version: str, kind: str, plural: str, short: str, scope: str, sub: str, sets: str
) -> Kind:
    where = Resource(
        _absent(group), version, kind, plural, namespaced=scope == "N", status=sub == "s"
    )
    message = tables.find(where.api_version, kind)
    assert message is not None, "the table has every kind of the rows above"
    shown, stored = _SHOWN.get(f"{where.api_version} {kind}", (None, None))
    return Kind(
        where,
        table=plural if plural == "events" else where.full_name,
        singular=kind.lower(),
        short=tuple(_absent(short).split(",")) if _absent(short) else (),
        categories=(sets,) if _absent(sets) else (),
        generation=(where.status and plural not in _NO_GENERATION) or plural in _GENERATION,
        upsert=plural in _UPSERT,
        unconditional=plural not in _CONDITIONAL,
        graceful=plural == "pods",
        propagation=_PROPAGATION.get(plural, DeletionPropagation.BACKGROUND),
        answers_object=plural in _ANSWERS_OBJECT,
        dying=_DYING.get(plural),
        keeps_status=plural == "nodes",
        status_holds=_STATUS_HOLDS.get(plural, frozenset()),
        naming=_NAMING.get(plural, dns1123_subdomain_errors),
        nameless=plural in _NAMELESS,
        unqualified=plural in _UNQUALIFIED,
        late=plural in _LATE,
        scale=_SCALED.get(plural),
        selectable=field_labels.labels(where),
        facts=field_labels.field_values(where),
        unknown_field=field_labels.unknown_field_message(where),
        deprecation=_DEPRECATED.get(plural, ""),
        orphaning=_ORPHANING.get(plural, ""),
        registry=_REGISTRY.get(plural, plural),
        alias=Resource("", "v1", kind, plural) if plural == "events" else None,
        message=message,
        shape=builtin_schema(message),
        zero={**message.zero(), **_UNOWNED.get(plural, {})},
        complete=PREPARE_FOR_CREATE.get(plural),
        complaints=_COMPLAINTS.get(plural),
        revise=_REVISIONS.get(plural),
        judge=_JUDGES.get(plural),
        default=_DEFAULTS.get(plural) or defaulter(message),
        settle=ASSIGN.get(plural),
        question=where.group in _QUESTIONS,
        shown=shown,
        stored=stored,
    )


def _absent(word: str) -> str:
    return "" if word == "-" else word
