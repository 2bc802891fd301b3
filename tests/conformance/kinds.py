"""A minimal object of every built-in kind that checks go through, and where it lives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.target import Target
from unit.cluster.api import JsonObject
from unit.cluster.certificates import certificate_request

POD_SPEC: JsonObject = {"containers": [{"name": "main", "image": "image:1"}]}
LABELS = {"app": "check"}
TEMPLATE: JsonObject = {"metadata": {"labels": LABELS}, "spec": POD_SPEC}
WORKLOAD: JsonObject = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}


@dataclass(frozen=True)
class Sample:
    """A kind of object: its resource, and the least a server accepts."""

    plural: str
    kind: str
    api: str = "v1"
    content: JsonObject = field(default_factory=dict)
    namespaced: bool = True
    status: bool = False
    """There is a /status."""

    def object(self, name: str, **metadata: Any) -> JsonObject:
        named = {"name": name, **metadata}
        return {"apiVersion": self.api, "kind": self.kind, "metadata": named, **self.content}

    def path(self, target: Target, name: str = "", sub: str = "") -> str:
        space = target.namespace if self.namespaced else ""
        return target.elsewhere(space, self.plural, name, self.api, sub)

    def __str__(self) -> str:
        group, _, version = self.api.rpartition("/")
        name = f"{self.plural}.{group}" if group else self.plural
        return name if version == "v1" else f"{version} {name}"


_CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}
_VOLUME = {
    "capacity": {"storage": "1Gi"},
    "accessModes": ["ReadWriteOnce"],
    "hostPath": {"path": "/data"},
}
_HOOK = {
    "name": "hook.example.com",
    "clientConfig": {"url": "https://127.0.0.1:1/"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
_RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
_REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
_JOB = {"template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}}}

POD = Sample("pods", "Pod", content={"spec": POD_SPEC}, status=True)
SERVICE = Sample("services", "Service", content={"spec": {"ports": [{"port": 80}]}}, status=True)
CONFIG_MAP = Sample("configmaps", "ConfigMap", content={"data": {"k": "v"}})
SECRET = Sample("secrets", "Secret", content={"stringData": {"k": "v"}})
DEPLOYMENT = Sample("deployments", "Deployment", "apps/v1", {"spec": WORKLOAD}, status=True)
REPLICA_SET = Sample("replicasets", "ReplicaSet", "apps/v1", {"spec": WORKLOAD}, status=True)
STATEFUL_SET = Sample(
    "statefulsets",
    "StatefulSet",
    "apps/v1",
    {"spec": {**WORKLOAD, "serviceName": "s"}},
    status=True,
)
DAEMON_SET = Sample("daemonsets", "DaemonSet", "apps/v1", {"spec": WORKLOAD}, status=True)
JOB = Sample("jobs", "Job", "batch/v1", {"spec": _JOB}, status=True)
CRON_JOB = Sample(
    "cronjobs",
    "CronJob",
    "batch/v1",
    {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": _JOB}}},
    status=True,
)
CLAIM = Sample(
    "persistentvolumeclaims", "PersistentVolumeClaim", content={"spec": _CLAIM}, status=True
)
VOLUME = Sample(
    "persistentvolumes",
    "PersistentVolume",
    content={"spec": _VOLUME},
    namespaced=False,
    status=True,
)
LEASE = Sample("leases", "Lease", "coordination.k8s.io/v1", {"spec": {"holderIdentity": "me"}})
BUDGET = Sample(
    "poddisruptionbudgets",
    "PodDisruptionBudget",
    "policy/v1",
    {"spec": {"minAvailable": 1, "selector": {"matchLabels": LABELS}}},
    status=True,
)
EVENT = Sample("events", "Event")
NAMESPACE = Sample("namespaces", "Namespace", namespaced=False, status=True)
ENDPOINTS = Sample(
    "endpoints",
    "Endpoints",
    content={"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]},
)
SLICE = Sample(
    "endpointslices",
    "EndpointSlice",
    "discovery.k8s.io/v1",
    {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]},
)
ACCOUNT = Sample("serviceaccounts", "ServiceAccount")
ROLE = Sample("roles", "Role", "rbac.authorization.k8s.io/v1", {"rules": [_RULE]})
BINDING = Sample(
    "rolebindings",
    "RoleBinding",
    "rbac.authorization.k8s.io/v1",
    {"roleRef": _REF, "subjects": [{"kind": "User", "name": "me"}]},
)
CLUSTER_ROLE = Sample(
    "clusterroles",
    "ClusterRole",
    "rbac.authorization.k8s.io/v1",
    {"rules": [_RULE]},
    namespaced=False,
)
CLUSTER_BINDING = Sample(
    "clusterrolebindings",
    "ClusterRoleBinding",
    "rbac.authorization.k8s.io/v1",
    {"roleRef": _REF, "subjects": [{"kind": "Group", "name": "us"}]},
    namespaced=False,
)
STORAGE_CLASS = Sample(
    "storageclasses",
    "StorageClass",
    "storage.k8s.io/v1",
    {"provisioner": "example.com/none"},
    namespaced=False,
)
PRIORITY_CLASS = Sample(
    "priorityclasses", "PriorityClass", "scheduling.k8s.io/v1", {"value": 7}, namespaced=False
)
NODE = Sample("nodes", "Node", namespaced=False, status=True)
REVISION = Sample(
    "controllerrevisions", "ControllerRevision", "apps/v1", {"data": {"a": 1}, "revision": 1}
)
VALIDATING = Sample(
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    "admissionregistration.k8s.io/v1",
    {"webhooks": [_HOOK]},
    namespaced=False,
)
MUTATING = Sample(
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    "admissionregistration.k8s.io/v1",
    {"webhooks": [_HOOK]},
    namespaced=False,
)
_POLICY = {
    "matchConstraints": {
        "resourceRules": [
            {
                "operations": ["CREATE"],
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "resources": ["configmaps"],
            }
        ]
    },
    "validations": [{"expression": "object != null"}],
    "paramKind": {"apiVersion": "v1", "kind": "Secret"},
}
MUTATING_POLICY = Sample(
    "mutatingadmissionpolicies",
    "MutatingAdmissionPolicy",
    "admissionregistration.k8s.io/v1",
    {
        "spec": {
            **{name: value for name, value in _POLICY.items() if name != "validations"},
            "reinvocationPolicy": "Never",
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": "Object{}"},
                }
            ],
        }
    },
    namespaced=False,
)
MUTATING_BINDING = Sample(
    "mutatingadmissionpolicybindings",
    "MutatingAdmissionPolicyBinding",
    "admissionregistration.k8s.io/v1",
    {
        "spec": {
            "policyName": "none.example.com",
            "paramRef": {
                "selector": {"matchLabels": LABELS},
                "parameterNotFoundAction": "Allow",
            },
        }
    },
    namespaced=False,
)
VALIDATING_POLICY = Sample(
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
    "admissionregistration.k8s.io/v1",
    {"spec": _POLICY},
    namespaced=False,
    status=True,
)
VALIDATING_BINDING = Sample(
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    "admissionregistration.k8s.io/v1",
    {
        "spec": {
            "policyName": "none.example.com",
            "validationActions": ["Deny"],
            "paramRef": {
                "selector": {"matchLabels": LABELS},
                "parameterNotFoundAction": "Allow",
            },
        }
    },
    namespaced=False,
)
PRIORITY_LEVEL = Sample(
    "prioritylevelconfigurations",
    "PriorityLevelConfiguration",
    "flowcontrol.apiserver.k8s.io/v1",
    {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}},
    namespaced=False,
    status=True,
)
CSI_DRIVER = Sample("csidrivers", "CSIDriver", "storage.k8s.io/v1", {"spec": {}}, namespaced=False)
CSI_NODE = Sample(
    "csinodes",
    "CSINode",
    "storage.k8s.io/v1",
    {"spec": {"drivers": [{"name": "example.com", "nodeID": "n", "topologyKeys": ["zone"]}]}},
    namespaced=False,
)
VOLUME_ATTACHMENT = Sample(
    "volumeattachments",
    "VolumeAttachment",
    "storage.k8s.io/v1",
    {
        "spec": {
            "attacher": "example.com",
            "nodeName": "n",
            "source": {"persistentVolumeName": "v"},
        }
    },
    namespaced=False,
    status=True,
)

STORAGE_CAPACITY = Sample(
    "csistoragecapacities",
    "CSIStorageCapacity",
    "storage.k8s.io/v1",
    {"storageClassName": "none", "capacity": "1Gi"},
)
ATTRIBUTES_CLASS = Sample(
    "volumeattributesclasses",
    "VolumeAttributesClass",
    "storage.k8s.io/v1",
    {"driverName": "example.com", "parameters": {"k": "v"}},
    namespaced=False,
)
DEVICE_CLASS = Sample(
    "deviceclasses", "DeviceClass", "resource.k8s.io/v1", {"spec": {}}, namespaced=False
)
_DEVICES = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "none"}}]}}
RESOURCE_CLAIM = Sample(
    "resourceclaims", "ResourceClaim", "resource.k8s.io/v1", {"spec": _DEVICES}, status=True
)
RESOURCE_CLAIM_TEMPLATE = Sample(
    "resourceclaimtemplates",
    "ResourceClaimTemplate",
    "resource.k8s.io/v1",
    {"spec": {"spec": _DEVICES}},
)
RESOURCE_SLICE = Sample(
    "resourceslices",
    "ResourceSlice",
    "resource.k8s.io/v1",
    {
        "spec": {
            "driver": "example.com",
            "nodeName": "n",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        }
    },
    namespaced=False,
)

CONTROLLER = Sample(
    "replicationcontrollers",
    "ReplicationController",
    content={"spec": {"selector": LABELS, "template": TEMPLATE}},
    status=True,
)
POD_TEMPLATE = Sample("podtemplates", "PodTemplate", content={"template": TEMPLATE})
LIMIT_RANGE = Sample(
    "limitranges",
    "LimitRange",
    content={"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]}},
)
QUOTA = Sample(
    "resourcequotas", "ResourceQuota", content={"spec": {"hard": {"pods": "90"}}}, status=True
)
NETWORK_POLICY = Sample(
    "networkpolicies",
    "NetworkPolicy",
    "networking.k8s.io/v1",
    {"spec": {"podSelector": {"matchLabels": LABELS}, "egress": [{"ports": [{"port": 80}]}]}},
)
INGRESS = Sample(
    "ingresses",
    "Ingress",
    "networking.k8s.io/v1",
    {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}},
    status=True,
)
INGRESS_CLASS = Sample(
    "ingressclasses",
    "IngressClass",
    "networking.k8s.io/v1",
    {"spec": {"controller": "example.com/none"}},
    namespaced=False,
)
RUNTIME_CLASS = Sample(
    "runtimeclasses", "RuntimeClass", "node.k8s.io/v1", {"handler": "none"}, namespaced=False
)
SIGNING_REQUEST = Sample(
    "certificatesigningrequests",
    "CertificateSigningRequest",
    "certificates.k8s.io/v1",
    {
        "spec": {
            "request": certificate_request("check"),
            "signerName": "example.com/none",
            "usages": ["client auth"],
        }
    },
    namespaced=False,
    status=True,
)
_SCALED = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
AUTOSCALER = Sample(
    "horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    "autoscaling/v2",
    {"spec": {"scaleTargetRef": _SCALED, "maxReplicas": 3}},
    status=True,
)
OLD_AUTOSCALER = Sample(
    "horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    "autoscaling/v1",
    {"spec": {"scaleTargetRef": _SCALED, "maxReplicas": 3}},
    status=True,
)

SAMPLES = (
    POD, SERVICE, CONFIG_MAP, SECRET, DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, JOB,
    CRON_JOB, CLAIM, VOLUME, LEASE, BUDGET, ENDPOINTS, SLICE, ACCOUNT, ROLE, BINDING, CLUSTER_ROLE,
    CLUSTER_BINDING, STORAGE_CLASS, PRIORITY_CLASS, NODE, REVISION, VALIDATING, MUTATING,
    CONTROLLER, POD_TEMPLATE, LIMIT_RANGE, QUOTA, NETWORK_POLICY, INGRESS, INGRESS_CLASS,
    RUNTIME_CLASS, AUTOSCALER, OLD_AUTOSCALER, SIGNING_REQUEST, MUTATING_POLICY,
    MUTATING_BINDING, VALIDATING_POLICY, VALIDATING_BINDING, CSI_DRIVER, CSI_NODE,
    VOLUME_ATTACHMENT, PRIORITY_LEVEL, STORAGE_CAPACITY, ATTRIBUTES_CLASS, DEVICE_CLASS,
    RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, RESOURCE_SLICE,
)  # fmt: skip
