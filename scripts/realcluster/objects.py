"""What the administrator of a new cluster applies before anything else: roles, DNS, volumes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from realcluster.layout import CONTROL_PLANE, DNS_SERVICE, STORAGE_CLASS, VOLUMES, Machine
from realcluster.nodes.files import VOLUME_FOLDER

Plain = dict[str, Any]
_RBAC = "rbac.authorization.k8s.io"
_DNS, _POLICIES = "coredns", "network-policy"
_DISCOVERY, _NETWORKING = "discovery.k8s.io", "networking.k8s.io"


def dns_objects() -> list[Plain]:
    """What leads pods to CoreDNS, which is no pod: a Service without a selector, and its role."""
    ports = [{"name": each.lower(), "port": 53, "protocol": each} for each in ("UDP", "TCP")]
    home = {"name": "kube-dns", "namespace": "kube-system"}
    slice_home = {**home, "labels": {"kubernetes.io/service-name": home["name"]}}
    endpoint = {"addresses": [CONTROL_PLANE], "conditions": {"ready": True}}
    return [
        *_role(_DNS, {"": ("services", "pods", "namespaces"), _DISCOVERY: ("endpointslices",)}),
        _object("v1", "Service", home, spec={"clusterIP": DNS_SERVICE, "ports": ports}),
        _object(
            "discovery.k8s.io/v1",
            "EndpointSlice",
            slice_home,
            addressType="IPv4",
            endpoints=[endpoint],
            ports=ports,
        ),
    ]


def policy_objects() -> list[Plain]:
    """What the agents of NetworkPolicies may read."""
    kinds = {"": ("pods", "namespaces"), _NETWORKING: ("networkpolicies",)}
    return [*_role(_POLICIES, kinds)]


def _role(user_name: str, kinds: Mapping[str, Sequence[str]]) -> tuple[Plain, Plain]:
    """A user may follow the kinds of some groups."""
    role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": user_name}
    user = {"apiGroup": _RBAC, "kind": "User", "name": user_name}
    rules = [_reads(group, *resources) for group, resources in kinds.items()]
    name, version = {"name": user_name}, f"{_RBAC}/v1"
    return (
        _object(version, "ClusterRole", name, rules=rules),
        _object(version, "ClusterRoleBinding", name, roleRef=role, subjects=[user]),
    )


def _reads(group: str, *resources: str) -> Plain:
    return {"apiGroups": [group], "resources": list(resources), "verbs": ["get", "list", "watch"]}


def volume_objects(machines: Iterable[Machine]) -> list[Plain]:
    """A class that makes nothing, and some volumes on every node: folders that honour fsGroup."""
    provisioner = "kubernetes.io/no-provisioner"
    storage = _object(
        "storage.k8s.io/v1",
        "StorageClass",
        {"name": STORAGE_CLASS},
        provisioner=provisioner,
        volumeBindingMode="WaitForFirstConsumer",
    )
    return [storage, *(_volume(each, number) for each in machines for number in range(VOLUMES))]


def _volume(machine: Machine, number: int) -> Plain:
    host = {"key": "kubernetes.io/hostname", "operator": "In", "values": [machine.name]}
    spec = {
        "capacity": {"storage": "10Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": STORAGE_CLASS,
        "local": {"path": f"{VOLUME_FOLDER}/{number}"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [host]}]}},
    }
    return _object("v1", "PersistentVolume", {"name": f"{machine.name}-{number}"}, spec=spec)


def _object(version: str, kind: str, metadata: Plain, **rest: Any) -> Plain:
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}
