"""Objects of every kind that has columns of its own, and the row a real server makes of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from conformance.target import Target
from unit.cluster.api import JsonObject

CONTAINERS = [{"name": "a", "image": "one"}, {"name": "b", "image": "two"}]
TEMPLATE = {"metadata": {"labels": {"x": "y"}}, "spec": {"containers": CONTAINERS}}
SELECTOR: JsonObject = {"matchLabels": {"x": "y"}}
WORKLOAD = "Containers*:string, Images*:string"
POD_COLUMNS = (
    "Name:string, Ready:string, Status:string, Restarts:string, Age:string, IP*:string, "
    "Node*:string, Nominated Node*:string, Readiness Gates*:string"
)
NONE = "<none>"
ENDED = "2020-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Sample:
    """An object to create, and how it shall look; `{name}` and `{namespace}` are its own."""

    id: str
    api: str
    plural: str
    columns: str
    cells: list[Any]
    body: JsonObject = field(default_factory=dict)
    status: JsonObject | None = None
    conditions: list[JsonObject] | None = None
    scoped: bool = True
    metadata: JsonObject = field(default_factory=dict)

    def path(self, target: Target, name: str = "", sub: str = "") -> str:
        space = target.namespace if self.scoped else ""
        return target.elsewhere(space, self.plural, name, self.api, sub)

    async def create(self, target: Target) -> str:
        """Make the object, and its status if it has one; its name."""
        name = f"sample-{target.namespace}"
        body = {"metadata": {"name": name, **self.metadata}, **self.body}
        text = msgspec.json.encode(body).replace(b"{namespace}", target.namespace.encode())
        await target.create(self.path(target), text)
        if self.status is not None:
            await target.merge(self.path(target, name, "status"), {"status": self.status})
        return name


def pod(id: str, cells: list[Any], status: JsonObject, **more: Any) -> Sample:
    """A pod of two containers in some state; its cells up to the age."""
    conditions = more.pop("conditions", None)
    spec = {"containers": CONTAINERS, "automountServiceAccountToken": False, **more}
    wide = [status.get("podIP", NONE), spec.get("nodeName", NONE), NONE]
    gates = spec.get("readinessGates")
    shown = ["{name}", *cells, "0s", *wide, "1/1" if gates else NONE]
    return Sample(f"pod-{id}", "v1", "pods", POD_COLUMNS, shown, {"spec": spec}, status, conditions)


def container(name: str, **state: Any) -> JsonObject:
    ready = "running" in state
    more = {"ready": ready, "restartCount": 0, "image": "", "imageID": ""}
    return {"name": name, **more, "state": state}


def failed(name: str, code: int, **more: Any) -> JsonObject:
    return container(name, terminated={"exitCode": code, **more})


RUNNING: JsonObject = {"startedAt": ENDED}
PODS = [
    pod("pending", ["0/2", "Pending", "0"], {"phase": "Pending"}),
    pod(
        "running",
        ["2/2", "Running", "0"],
        {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "podIPs": [{"ip": "10.0.0.1"}],
            "conditions": [{"type": "G", "status": "True"}],
            "containerStatuses": [container("a", running=RUNNING), container("b", running=RUNNING)],
        },
        readinessGates=[{"conditionType": "G"}],
    ),
    pod(
        "waiting",
        ["1/2", "CrashLoopBackOff", "3"],
        {
            "phase": "Running",
            "containerStatuses": [
                {**container("a", waiting={"reason": "CrashLoopBackOff"}), "restartCount": 3},
                container("b", running=RUNNING),
            ],
        },
    ),
    pod(
        "failed",
        ["0/2", "OOMKilled", "0"],
        {
            "phase": "Failed",
            "containerStatuses": [failed("a", 137, reason="OOMKilled"), failed("b", 1)],
        },
        conditions=[
            {
                "type": "Completed",
                "status": "True",
                "reason": "Failed",
                "message": "The pod failed.",
            }
        ],
    ),
    pod(
        "completed-beside-running",
        ["1/2", "NotReady", "0"],
        {
            "phase": "Running",
            "containerStatuses": [
                failed("a", 0, reason="Completed"),
                container("b", running=RUNNING),
            ],
        },
    ),
    pod("evicted", ["0/2", "Evicted", "0"], {"phase": "Failed", "reason": "Evicted"},
        conditions=[{"type": "Completed", "status": "True", "reason": "Failed",
                     "message": "The pod failed."}]),
    pod(
        "initializing",
        ["0/2", "Init:1/2", "0"],
        {
            "phase": "Pending",
            "initContainerStatuses": [
                failed("i", 0, reason="Completed"),
                container("j", running=RUNNING),
            ],
        },
        initContainers=[{"name": "i", "image": "i"}, {"name": "j", "image": "j"}],
    ),
    pod(
        "init-failed",
        ["0/2", "Init:ExitCode:3", "0"],
        {"phase": "Pending", "initContainerStatuses": [failed("i", 3)]},
        initContainers=[{"name": "i", "image": "i"}],
    ),
    pod(
        "init-waiting",
        ["0/2", "Init:ErrImagePull", "0"],
        {
            "phase": "Pending",
            "initContainerStatuses": [container("i", waiting={"reason": "ErrImagePull"})],
        },
        initContainers=[{"name": "i", "image": "i"}],
    ),
]  # fmt: skip
OTHERS = [
    Sample(
        "deployment", "apps/v1", "deployments",
        f"Name:string, Ready:string, Up-to-date:string, Available:string, Age:string, {WORKLOAD}, "
        "Selector*:string",
        ["{name}", "2/3", 1, 2, "0s", "a,b", "one,two", "x=y"],
        {"spec": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE}},
        {"replicas": 3, "readyReplicas": 2, "availableReplicas": 2, "updatedReplicas": 1},
    ),
    Sample(
        "replicaset", "apps/v1", "replicasets",
        f"Name:string, Desired:integer, Current:integer, Ready:integer, Age:string, {WORKLOAD}, "
        "Selector*:string",
        ["{name}", 2, 2, 1, "0s", "a,b", "one,two", "a notin (c,d),x=y"],
        {"spec": {"replicas": 2, "template": TEMPLATE, "selector": {
            **SELECTOR,
            "matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["d", "c"]}],
        }}},
        {"replicas": 2, "readyReplicas": 1},
    ),
    Sample(
        "statefulset", "apps/v1", "statefulsets",
        f"Name:string, Ready:string, Age:string, {WORKLOAD}",
        ["{name}", "1/2", "0s", "a,b", "one,two"],
        {"spec": {"replicas": 2, "serviceName": "s", "selector": SELECTOR, "template": TEMPLATE}},
        {"replicas": 2, "readyReplicas": 1},
    ),
    Sample(
        "daemonset", "apps/v1", "daemonsets",
        "Name:string, Desired:integer, Current:integer, Ready:integer, Up-to-date:integer, "
        f"Available:integer, Node Selector:string, Age:string, {WORKLOAD}, Selector*:string",
        ["{name}", 5, 4, 3, 2, 1, NONE, "0s", "a,b", "one,two", "x=y"],
        {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
        {"desiredNumberScheduled": 5, "currentNumberScheduled": 4, "numberReady": 3,
         "updatedNumberScheduled": 2, "numberAvailable": 1, "numberMisscheduled": 0},
    ),
    Sample(
        "configmap", "v1", "configmaps", "Name:string, Data:string, Age:string",
        ["{name}", 3, "0s"], {"data": {"a": "", "b": ""}, "binaryData": {"c": ""}},
    ),
    Sample(
        "secret", "v1", "secrets", "Name:string, Type:string, Data:string, Age:string",
        ["{name}", "example.com/own", 1, "0s"], {"data": {"a": ""}, "type": "example.com/own"},
    ),
    Sample("serviceaccount", "v1", "serviceaccounts", "Name:string, Age:string", ["{name}", "0s"]),
    Sample(
        "node", "v1", "nodes",
        "Name:string, Status:string, Roles:string, Age:string, Version:string, "
        "Internal-IP*:string, External-IP*:string, OS-Image*:string, Kernel-Version*:string, "
        "Container-Runtime*:string",
        ["{name}", "NotReady,SchedulingDisabled", "control-plane,worker", "0s", "v1", "10.0.0.1",
         NONE, "debian", "6.1", "none://1"],
        {"spec": {"unschedulable": True}},
        {"conditions": [{"type": "Ready", "status": "False"}],
         "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
         "nodeInfo": {"kubeletVersion": "v1", "osImage": "debian", "kernelVersion": "6.1",
                      "containerRuntimeVersion": "none://1"}},
        scoped=False,
        metadata={"labels": {"node-role.kubernetes.io/control-plane": "",
                             "kubernetes.io/role": "worker"}},
    ),
    Sample(
        "lease", "coordination.k8s.io/v1", "leases", "Name:string, Holder:string, Age:string",
        ["{name}", "me", "0s"], {"spec": {"holderIdentity": "me"}},
    ),
    Sample(
        "role", "rbac.authorization.k8s.io/v1", "rolebindings",
        "Name:string, Role:string, Age:string, Users*:string, Groups*:string, "
        "ServiceAccounts*:string",
        ["{name}", "Role/r", "0s", "u, v", "g", "n/s"],
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
         "subjects": [{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"},
                      {"kind": "User", "name": "v", "apiGroup": "rbac.authorization.k8s.io"},
                      {"kind": "Group", "name": "g", "apiGroup": "rbac.authorization.k8s.io"},
                      {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]},
    ),
    Sample(
        "job", "batch/v1", "jobs",
        f"Name:string, Status:string, Completions:string, Duration:string, Age:string, {WORKLOAD}, "
        "Selector*:string",
        ["{name}", "Running", "0/2", "", "0s", "a,b", "one,two", "x=y"],
        {"spec": {"completions": 2, "manualSelector": True, "selector": SELECTOR, "template": {
            **TEMPLATE, "spec": {"restartPolicy": "Never", "containers": CONTAINERS}}}},
    ),
    Sample(
        "cronjob", "batch/v1", "cronjobs",
        "Name:string, Schedule:string, Timezone:string, Suspend:boolean, Active:integer, "
        f"Last Schedule:string, Age:string, {WORKLOAD}, Selector*:string",
        ["{name}", "* * * * *", NONE, "True", 0, NONE, "0s", "a,b", "one,two", NONE],
        {"spec": {"schedule": "* * * * *", "suspend": True, "jobTemplate": {"spec": {"template": {
            "spec": {"restartPolicy": "Never", "containers": CONTAINERS}}}}}},
    ),
    Sample(
        "event", "v1", "events",
        "Last Seen:string, Type:string, Reason:string, Object:string, Subobject*:string, "
        "Source*:string, Message:string, First Seen*:string, Count*:string, Name*:string",
        ["<unknown>", "Normal", "Made", "pod/p", "", "me, here", "done", "<unknown>", 1, "{name}"],
        {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "{namespace}"},
         "type": "Normal", "reason": "Made",
         "message": " done ", "source": {"component": "me", "host": "here"}},
    ),
    Sample(
        "budget", "policy/v1", "poddisruptionbudgets",
        "Name:string, Min Available:string, Max Unavailable:string, Allowed Disruptions:integer, "
        "Age:string",
        ["{name}", "50%", "N/A", 0, "0s"],
        {"spec": {"minAvailable": "50%", "selector": SELECTOR}},
    ),
    Sample(
        "storageclass", "storage.k8s.io/v1", "storageclasses",
        "Name:string, Provisioner:string, ReclaimPolicy:string, VolumeBindingMode:string, "
        "AllowVolumeExpansion:string, Age:string",
        ["{name} (default)", "example.com/disk", "Retain", "WaitForFirstConsumer", True, "0s"],
        {"provisioner": "example.com/disk", "reclaimPolicy": "Retain",
         "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": True},
        scoped=False,
        metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    ),
    Sample(
        "priorityclass", "scheduling.k8s.io/v1", "priorityclasses",
        "Name:string, Value:integer, Global-Default:boolean, Age:string, PreemptionPolicy:string",
        ["{name}", 7, False, "0s", "Never"], {"value": 7, "preemptionPolicy": "Never"},
        scoped=False,
    ),
    Sample(
        "endpointslice", "discovery.k8s.io/v1", "endpointslices",
        "Name:string, AddressType:string, Ports:string, Endpoints:string, Age:string",
        ["{name}", "IPv4", "80,http", "10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...", "0s"],
        {"addressType": "IPv4", "ports": [{"name": "x", "port": 80}, {"name": "http"}],
         "endpoints": [{"addresses": [f"10.0.0.{at}"]} for at in range(1, 5)]},
    ),
    Sample(
        "endpoints", "v1", "endpoints", "Name:string, Endpoints:string, Age:string",
        ["{name}", "10.0.0.1:80,10.0.0.2:80", "0s"],
        {"subsets": [{"addresses": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}],
                      "ports": [{"port": 80}]}]},
    ),
    Sample(
        "volume", "v1", "persistentvolumes",
        "Name:string, Capacity:string, Access Modes:string, Reclaim Policy:string, Status:string, "
        "Claim:string, StorageClass:string, VolumeAttributesClass:string, Reason:string, "
        "Age:string, VolumeMode*:string",
        ["{name}", "1Gi", "RWO,ROX", "Retain", "Available", "n/c", "fast", "<unset>", "because",
         "0s", "Filesystem"],
        {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadOnlyMany", "ReadWriteOnce"],
                  "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "fast",
                  "volumeMode": "Filesystem", "claimRef": {"namespace": "n", "name": "c"},
                  "hostPath": {"path": "/x"}}},
        {"phase": "Available", "reason": "because"},
        scoped=False,
    ),
    Sample(
        "claim", "v1", "persistentvolumeclaims",
        "Name:string, Status:string, Volume:string, Capacity:string, Access Modes:string, "
        "StorageClass:string, VolumeAttributesClass:string, Age:string, VolumeMode*:string",
        ["{name}", "Bound", "v", "2Gi", "RWX", "fast", "<unset>", "0s", "Block"],
        {"spec": {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"],
                  "storageClassName": "fast", "volumeMode": "Block", "volumeName": "v"}},
        {"phase": "Bound", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteMany"]},
    ),
    Sample(
        "unbound-claim", "v1", "persistentvolumeclaims",
        "Name:string, Status:string, Volume:string, Capacity:string, Access Modes:string, "
        "StorageClass:string, VolumeAttributesClass:string, Age:string, VolumeMode*:string",
        ["{name}", "Pending", "", "", "", "fast", "<unset>", "0s", "Block"],
        {"spec": {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"],
                  "storageClassName": "fast", "volumeMode": "Block"}},
        {"phase": "Pending"},
    ),
    Sample(
        "service", "v1", "services",
        "Name:string, Type:string, Cluster-IP:string, External-IP:string, Port(s):string, "
        "Age:string, Selector*:string",
        ["{name}", "ClusterIP", "None", "10.9.9.9", "80/TCP,53/UDP", "0s", "a=b,c=d"],
        {"spec": {"type": "ClusterIP", "clusterIP": "None", "externalIPs": ["10.9.9.9"],
                  "selector": {"c": "d", "a": "b"},
                  "ports": [{"name": "x", "port": 80, "protocol": "TCP"},
                            {"name": "y", "port": 53, "protocol": "UDP"}]}},
    ),
    Sample(
        "external-service", "v1", "services",
        "Name:string, Type:string, Cluster-IP:string, External-IP:string, Port(s):string, "
        "Age:string, Selector*:string",
        ["{name}", "ExternalName", NONE, "example.com", NONE, "0s", NONE],
        {"spec": {"type": "ExternalName", "externalName": "example.com"}},
    ),
]  # fmt: skip
SAMPLES = [*PODS, *OTHERS]
