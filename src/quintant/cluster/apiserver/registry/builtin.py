"""RESTStorageProvider: the built-in kinds: their groups, versions, names and scopes. Data.

Each row is a resource; the sets below name what is special about some. How a kind behaves is said
in quintant.cluster.apiserver.registry.strategies; a fact about a kind belongs in one of the two and
nowhere else.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.kinds.kind import Kind, KindNames
from quintant.cluster.apiserver.registry.field_labels import field_labels_of
from quintant.cluster.apiserver.registry.prepare import NAMESPACE_FINALIZER
from quintant.cluster.apiserver.registry.strategies import strategy_of
from quintant.cluster.apiserver.structuredmerge.builtin_schema import builtin_schema
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
certificates.k8s.io          v1 CertificateSigningRequest      certificatesigningrequests      csr      C s -
coordination.k8s.io          v1 Lease                          leases                          -        N - -
discovery.k8s.io             v1 EndpointSlice                  endpointslices                  -        N - -
events.k8s.io                v1 Event                          events                          ev       N - -
networking.k8s.io            v1 Ingress                        ingresses                       ing      N s -
networking.k8s.io            v1 IngressClass                   ingressclasses                  -        C - -
networking.k8s.io            v1 IPAddress                      ipaddresses                     ip       C - -
networking.k8s.io            v1 NetworkPolicy                  networkpolicies                 netpol   N - -
networking.k8s.io            v1 ServiceCIDR                    servicecidrs                    -        C s -
node.k8s.io                  v1 RuntimeClass                   runtimeclasses                  -        C - -
policy                       v1 PodDisruptionBudget            poddisruptionbudgets            pdb      N s -
rbac.authorization.k8s.io    v1 Role                           roles                           -        N - -
rbac.authorization.k8s.io    v1 RoleBinding                    rolebindings                    -        N - -
rbac.authorization.k8s.io    v1 ClusterRole                    clusterroles                    -        C - -
rbac.authorization.k8s.io    v1 ClusterRoleBinding             clusterrolebindings             -        C - -
scheduling.k8s.io            v1 PriorityClass                  priorityclasses                 pc       C - -
storage.k8s.io               v1 CSIDriver                      csidrivers                      -        C - -
storage.k8s.io               v1 CSINode                        csinodes                        -        C - -
storage.k8s.io               v1 CSIStorageCapacity             csistoragecapacities            -        N - -
storage.k8s.io               v1 StorageClass                   storageclasses                  sc       C - -
storage.k8s.io               v1 VolumeAttachment               volumeattachments               -        C s -
storage.k8s.io               v1 VolumeAttributesClass          volumeattributesclasses         vac      C - -
resource.k8s.io              v1 DeviceClass                    deviceclasses                   -        C - -
resource.k8s.io              v1 ResourceClaim                  resourceclaims                  -        N s -
resource.k8s.io              v1 ResourceClaimTemplate          resourceclaimtemplates          -        N - -
resource.k8s.io              v1 ResourceSlice                  resourceslices                  -        C - -
flowcontrol.apiserver.k8s.io v1 FlowSchema                     flowschemas                     -        C s -
flowcontrol.apiserver.k8s.io v1 PriorityLevelConfiguration     prioritylevelconfigurations     -        C s -
admissionregistration.k8s.io v1 MutatingAdmissionPolicy        mutatingadmissionpolicies       -        C - api-extensions
admissionregistration.k8s.io v1 MutatingAdmissionPolicyBinding mutatingadmissionpolicybindings -        C - api-extensions
admissionregistration.k8s.io v1 ValidatingAdmissionPolicy      validatingadmissionpolicies     -        C s api-extensions
admissionregistration.k8s.io v1 ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings -    C - api-extensions
admissionregistration.k8s.io v1 ValidatingWebhookConfiguration validatingwebhookconfigurations -        C - api-extensions
admissionregistration.k8s.io v1 MutatingWebhookConfiguration   mutatingwebhookconfigurations   -        C - api-extensions
apiextensions.k8s.io         v1 CustomResourceDefinition       customresourcedefinitions       crd,crds C s api-extensions
apiregistration.k8s.io       v1 APIService                     apiservices                     -        C s api-extensions
"""  # noqa: E501

# Groups of documents that only ask something.
_REVIEWS = {"authentication.k8s.io", "authorization.k8s.io"}
# Where a real server keeps what, if that is not the name of the resource; some refusals tell.
_ETCD_PREFIX = {
    "endpoints": "services/endpoints",
    "ingresses": "ingress",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "services": "services/specs",
}
_DEPRECATED = {
    "endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
}
_SCALED = {
    "deployments": Scale(selector=".spec.selector"),
    "replicasets": Scale(selector=".spec.selector"),
    "statefulsets": Scale(selector=".spec.selector"),
    "replicationcontrollers": Scale(selector=".spec.selector"),
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
    resource = Resource(
        _absent(group), version, kind, plural, namespaced=scope == "N", status=sub == "s"
    )
    message = go_types.find(resource.api_version, kind)
    assert message is not None, "the table has every kind of the rows above"
    return Kind(
        resource,
        table=plural if plural == "events" else resource.full_name,
        strategy=strategy_of(resource, message),
        names=KindNames(
            kind.lower(),
            tuple(_absent(short).split(",")) if _absent(short) else (),
            (sets,) if _absent(sets) else (),
        ),
        field_labels=field_labels_of(resource),
        create_only=resource.group in _REVIEWS,
        scale=_SCALED.get(plural),
        message=message,
        merge_schema=builtin_schema(message),
        zero={**message.zero(), **_UNOWNED.get(plural, {})},
        deprecation_warning=_DEPRECATED.get(plural, ""),
        etcd_prefix=_ETCD_PREFIX.get(plural, plural),
    )


def _absent(word: str) -> str:
    return "" if word == "-" else word
