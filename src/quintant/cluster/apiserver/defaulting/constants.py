"""SetDefaults_Container, SetDefaults_Probe: constants in Pods and others, by message and field.

A message's row holds wherever the message occurs: a container is the same in a Pod and in the
template of a Deployment. What depends on other fields is in
quintant.cluster.apiserver.defaulting.rules; how both are brought into an object, in
quintant.cluster.apiserver.defaulting.walk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

READABLE = 0o644
"""The mode of files in volumes."""
AFFINITY_SECONDS = 10800
"""How long a service remembers which client went where: three hours."""
TOKEN_SECONDS = 3600
"""How long a projected token is good for."""

_WEBHOOK = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}
_CONTAINER = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}

CONSTANTS: Mapping[str, Mapping[str, Any]] = {
    "core.v1.PodSpec": {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
    },
    "core.v1.Container": _CONTAINER,
    "core.v1.EphemeralContainer": _CONTAINER,
    "core.v1.ContainerPort": {"protocol": "TCP"},
    "apiregistration.v1.ServiceReference": {"port": 443},
    "core.v1.Probe": {
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    },
    "core.v1.HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "core.v1.GRPCAction": {"service": ""},
    "core.v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core.v1.SecretVolumeSource": {"defaultMode": READABLE},
    "core.v1.ConfigMapVolumeSource": {"defaultMode": READABLE},
    "core.v1.DownwardAPIVolumeSource": {"defaultMode": READABLE},
    "core.v1.ProjectedVolumeSource": {"defaultMode": READABLE},
    "core.v1.ServiceAccountTokenProjection": {"expirationSeconds": TOKEN_SECONDS},
    "core.v1.HostPathVolumeSource": {"type": ""},
    "core.v1.ISCSIVolumeSource": {"iscsiInterface": "default"},
    "core.v1.ISCSIPersistentVolumeSource": {"iscsiInterface": "default"},
    "core.v1.PersistentVolumeSpec": {
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
    },
    "core.v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core.v1.PersistentVolumeClaimStatus": {"phase": "Pending"},
    "core.v1.ServiceSpec": {"sessionAffinity": "None", "type": "ClusterIP"},
    "core.v1.ServicePort": {"protocol": "TCP"},
    "core.v1.EndpointPort": {"protocol": "TCP"},
    "core.v1.Secret": {"type": "Opaque"},
    "apps.v1.DeploymentSpec": {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    "apps.v1.DeploymentStrategy": {"type": "RollingUpdate"},
    "apps.v1.ReplicaSetSpec": {"replicas": 1},
    "apps.v1.StatefulSetSpec": {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {},
    },
    "apps.v1.StatefulSetUpdateStrategy": {"type": "RollingUpdate"},
    "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
    },
    "apps.v1.DaemonSetSpec": {"revisionHistoryLimit": 10},
    "apps.v1.DaemonSetUpdateStrategy": {"type": "RollingUpdate"},
    "core.v1.ReplicationControllerSpec": {"replicas": 1},
    "autoscaling.v1.HorizontalPodAutoscalerSpec": {"minReplicas": 1},
    "autoscaling.v2.HorizontalPodAutoscalerSpec": {"minReplicas": 1},
    "networking.v1.NetworkPolicyPort": {"protocol": "TCP"},
    "networking.v1.IngressClassParametersReference": {"scope": "Cluster"},
    "batch.v1.CronJobSpec": {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
    "batch.v1.PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    "discovery.v1.EndpointPort": {"name": "", "protocol": "TCP"},
    "storage.v1.StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
    "storage.v1.CSIDriverSpec": {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "requiresRepublish": False,
        "seLinuxMount": False,
    },
    "scheduling.v1.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "flowcontrol.v1.ExemptPriorityLevelConfiguration": {
        "nominalConcurrencyShares": 0,
        "lendablePercent": 0,
    },
    "flowcontrol.v1.LimitedPriorityLevelConfiguration": {
        "nominalConcurrencyShares": 30,
        "lendablePercent": 0,
    },
    "admissionregistration.v1.ValidatingWebhook": _WEBHOOK,
    "admissionregistration.v1.MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": "Never"},
    "admissionregistration.v1.ServiceReference": {"port": 443},
    "admissionregistration.v1.RuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.NamedRuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.v1.MutatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.v1.MatchResources": {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
    },
}
