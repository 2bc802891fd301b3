"""TableConvertor: the printer of a kind: of a built-in one by name, of others by definition."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.response.printers import (
    PLAIN,
    Printer,
    core,
    devices,
    misc,
    network,
    scaling,
    workloads,
)
from quintant.cluster.apiserver.response.printers.custom_columns import custom_printer
from quintant.cluster.apiserver.response.printers.pods import POD

REMEMBERED = 512
"""Printers kept: more kinds than are looked at at a time."""
_BUILTIN: Mapping[str, Printer] = {
    "apiservices.apiregistration.k8s.io": misc.API_SERVICE,
    "pods": POD,
    "services": network.SERVICE,
    "endpoints": network.ENDPOINTS,
    "configmaps": core.CONFIG_MAP,
    "secrets": core.SECRET,
    "serviceaccounts": core.SERVICE_ACCOUNT,
    "namespaces": core.NAMESPACE,
    "nodes": core.NODE,
    "persistentvolumes": core.VOLUME,
    "persistentvolumeclaims": core.CLAIM,
    "events": core.EVENT,
    "events.events.k8s.io": core.EVENT,
    "endpointslices.discovery.k8s.io": network.ENDPOINT_SLICE,
    "podtemplates": workloads.POD_TEMPLATE,
    "replicationcontrollers": workloads.REPLICA_SET,
    "resourcequotas": scaling.QUOTA,
    "deployments.apps": workloads.DEPLOYMENT,
    "replicasets.apps": workloads.REPLICA_SET,
    "statefulsets.apps": workloads.STATEFUL_SET,
    "daemonsets.apps": workloads.DAEMON_SET,
    "controllerrevisions.apps": misc.REVISION,
    "jobs.batch": workloads.JOB,
    "cronjobs.batch": workloads.CRON_JOB,
    "certificatesigningrequests.certificates.k8s.io": misc.CSR,
    "leases.coordination.k8s.io": misc.LEASE,
    "poddisruptionbudgets.policy": misc.DISRUPTION_BUDGET,
    "rolebindings.rbac.authorization.k8s.io": misc.BINDING,
    "clusterrolebindings.rbac.authorization.k8s.io": misc.BINDING,
    "scale.autoscaling": workloads.SCALE,
    "horizontalpodautoscalers.autoscaling": scaling.AUTOSCALER,
    "ingresses.networking.k8s.io": network.INGRESS,
    "ingressclasses.networking.k8s.io": network.INGRESS_CLASS,
    "networkpolicies.networking.k8s.io": network.NETWORK_POLICY,
    "runtimeclasses.node.k8s.io": misc.RUNTIME_CLASS,
    "priorityclasses.scheduling.k8s.io": misc.PRIORITY_CLASS,
    "csidrivers.storage.k8s.io": misc.CSI_DRIVER,
    "csinodes.storage.k8s.io": misc.CSI_NODE,
    "csistoragecapacities.storage.k8s.io": devices.CSI_STORAGE_CAPACITY,
    "volumeattributesclasses.storage.k8s.io": devices.VOLUME_ATTRIBUTES_CLASS,
    "deviceclasses.resource.k8s.io": devices.NAMED,
    "resourceclaims.resource.k8s.io": devices.RESOURCE_CLAIM,
    "resourceclaimtemplates.resource.k8s.io": devices.NAMED,
    "resourceslices.resource.k8s.io": devices.RESOURCE_SLICE,
    "ipaddresses.networking.k8s.io": misc.IP_ADDRESS,
    "servicecidrs.networking.k8s.io": misc.SERVICE_CIDR,
    "storageclasses.storage.k8s.io": misc.STORAGE_CLASS,
    "volumeattachments.storage.k8s.io": misc.VOLUME_ATTACHMENT,
    "flowschemas.flowcontrol.apiserver.k8s.io": misc.FLOW_SCHEMA,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": misc.PRIORITY_LEVEL,
    "mutatingadmissionpolicies.admissionregistration.k8s.io": misc.MUTATING_POLICY,
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": misc.POLICY_BINDING,
    "validatingadmissionpolicies.admissionregistration.k8s.io": misc.POLICY,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": misc.POLICY_BINDING,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": misc.WEBHOOKS,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": misc.WEBHOOKS,
}


@lru_cache(REMEMBERED)
def printer_of(kind: Kind) -> Printer:
    """The printer of a kind."""
    if kind.custom:
        return custom_printer(kind.crd_version)
    return _BUILTIN.get(kind.resource.full_name, PLAIN)
