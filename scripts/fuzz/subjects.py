"""The kinds that are fuzzed: the least a server accepts, and what may stand where.

A pool names places (`spec/replicas`) and the values that may stand there; good ones are chosen most
of the time. Pools are small, so that writers meet: on the same field, item or key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuzz.steps import UID

JsonObject = dict[str, Any]
Pool = Mapping[str, tuple[Any, ...]]

ONE, TWO = "example.com/one", "example.com/two"
_OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "12345678"}
LABELS = {"app": "a"}

METADATA: Pool = {
    "metadata/labels": (LABELS, {"app": "b"}, {"app": "a", "tier": "x"}, {}),
    "metadata/labels/app": ("a", "b", ""),
    "metadata/labels/tier": ("x", "y"),
    "metadata/annotations": ({"note": "1"}, {"note": "2", "more": "3"}, {}),
    "metadata/annotations/note": ("1", "2", ""),
    "metadata/finalizers": ([ONE], [TWO], [ONE, TWO], [TWO, ONE]),
    "metadata/ownerReferences": ([_OWNER], [{**_OWNER, "uid": UID}]),
}
BAD_METADATA: Pool = {
    "metadata/labels": ({"app": "not a label"}, {"no key!": "v"}, "text", ["a"], {"app": 1}),
    "metadata/annotations": ({"no key!": "v"}, {"note": True}),
    "metadata/finalizers": (["unqualified"], [ONE, ONE], "text"),
    "metadata/ownerReferences": ([{"kind": "ConfigMap"}], [{**_OWNER, "controller": True}] * 2),
    "metadata/name": ("other", "another"),
    "metadata/namespace": ("other",),
    "metadata/uid": ("12345678",),
    "metadata/resourceVersion": ("1", "text"),
    "metadata/generation": (7,),
    "metadata/managedFields": ([], [{}], [{"manager": "x"}]),
    "metadata/unknown": (1,),
    "kind": ("Other", "Namespace", ""),
    "apiVersion": ("v9",),
    "unknown": ({"a": 1},),
}
BARE_METADATA: Pool = {
    place: tuple(one for one in found if one != {}) for place, found in METADATA.items()
}
"""For custom resources: of those, a real server stores the empty map, and the next write drops it,
whatever it is."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of object, and what its fields may be."""

    kind: str
    plural: str
    api: str = "v1"
    content: JsonObject = field(default_factory=dict)
    good: Pool = field(default_factory=dict)
    bad: Pool = field(default_factory=dict)
    points: Pool = field(default_factory=dict)
    """Places inside lists, for JSON patches."""
    directives: Pool = field(default_factory=dict)
    """What only a strategic patch says."""
    status: Pool = field(default_factory=dict)
    bad_status: Pool = field(default_factory=dict)
    creates_status: bool = False
    """A write of a status makes an object that is not there; the embedded server refuses that, and
    docs/embedded-server.md says why."""
    scaled: bool = False
    custom: bool = False

    def path(self, namespace: str, name: str = "", sub: str = "") -> str:
        """Where the objects are, or one of them, or a part of that."""
        root = f"/apis/{self.api}" if "/" in self.api else f"/api/{self.api}"
        parts = (root, "namespaces", namespace, self.plural, name, sub)
        return "/".join(part for part in parts if part)

    def object(self, name: str, **metadata: Any) -> JsonObject:
        """The least that is accepted."""
        named = {"name": name, **metadata}
        return {"apiVersion": self.api, "kind": self.kind, "metadata": named, **self.content}


_A = {"name": "a", "image": "image:1"}
_B = {"name": "b", "image": "image:1"}
_VOLUMES: tuple[Any, ...] = (
    [{"name": "v", "emptyDir": {}}],
    [{"name": "w", "configMap": {"name": "c"}}],
    [],
)
_ENV = ([{"name": "E", "value": "1"}], [{"name": "F", "value": "2"}, {"name": "E", "value": "3"}])
_PORTS = (
    [{"containerPort": 80}],
    [{"containerPort": 80, "protocol": "UDP"}, {"containerPort": 81}],
)
_CONTAINERS = (
    [_A],
    [_A, _B],
    [_B, _A],
    [{**_A, "image": "image:2"}],
    [{**_A, "env": _ENV[0]}],
    [{**_A, "env": _ENV[1], "ports": _PORTS[0]}],
    [{**_A, "ports": _PORTS[1], "resources": {"requests": {"cpu": "0.5", "memory": "1024Mi"}}}],
    [{**_B, "readinessProbe": {"httpGet": {"port": 80}}}, _A],
)
_BAD_CONTAINERS: tuple[Any, ...] = (
    [],
    [{"name": "a"}],
    [_A, _A],
    [{**_A, "image": 1}],
    [{**_A, "ports": [{"containerPort": 0}]}],
    [{**_A, "imagePullPolicy": "Sometimes"}],
    [{**_A, "unknown": 1}],
    "text",
)
_CONTAINER_ORDERS: Pool = {
    "containers": (
        [{"name": "a", "$patch": "delete"}],
        [{"name": "b", "image": "image:3"}, {"$patch": "replace"}],
        [{"name": "a", "env": [{"name": "E", "$patch": "delete"}]}],
        [{"name": "c", "image": "image:1"}, {"name": "a", "image": "image:4"}],
        [{"image": "image:4"}],
    ),
    "$setElementOrder/containers": ([{"name": "b"}, {"name": "a"}], [{"name": "a"}]),
}
_POD_STATUS: Pool = {
    "status/phase": ("Pending", "Running", "Failed"),
    "status/podIP": ("10.0.0.1", "10.0.0.2"),
    "status/conditions": (
        [{"type": "Ready", "status": "True"}],
        [{"type": "Ready", "status": "False"}, {"type": "Other", "status": "Unknown"}],
        [],
    ),
    "status/message": ("one", "two", ""),
}
_WORKLOAD_STATUS: Pool = {
    "status/replicas": (0, 1, 3),
    "status/readyReplicas": (0, 1),
    "status/observedGeneration": (1, 2),
    "status/conditions": (
        [{"type": "Available", "status": "True"}],
        [{"type": "Available", "status": "False"}, {"type": "Progressing", "status": "True"}],
        [],
    ),
}


def _below(prefix: str, pool: Pool) -> Pool:
    return {f"{prefix}/{place}": values for place, values in pool.items()}


CONFIG_MAP = Subject(
    "ConfigMap",
    "configmaps",
    good={
        "data": ({"k": "v"}, {"k": "w", "l": "v"}),
        "data/k": ("v", "w", ""),
        "data/l": ("v", "w"),
        "binaryData": ({"b": "AAEC"}, {"b": "AAED"}),
        "immutable": (False, False, False, True),
    },
    bad={
        "data": ({"no key!": "v"}, {"k": 1}, "text", {"b": "v"}),
        "data/k": (1, True, {"a": "b"}),
        "binaryData": ({"b": "not base64!"}, {"k": "AAEC"}),
        "immutable": ("yes",),
    },
    directives={
        "data": ({"$patch": "replace", "m": "1"}, {"$patch": "delete"}, {"$retainKeys": ["k"]}),
        "metadata/labels": ({"$patch": "replace", "app": "a"},),
        "metadata/$deleteFromPrimitiveList/finalizers": ([ONE], [ONE, TWO]),
        "metadata/$setElementOrder/finalizers": ([TWO, ONE],),
    },
    status={"status/phase": ("any",)},
)
POD = Subject(
    "Pod",
    "pods",
    content={"spec": {"containers": [_A]}},
    good={
        "spec/containers": _CONTAINERS,
        "spec/volumes": _VOLUMES,
        "spec/nodeSelector": ({"zone": "1"}, {}),
        "spec/terminationGracePeriodSeconds": (0, 30),
        "spec/activeDeadlineSeconds": (10, 20),
        "spec/tolerations": ([{"key": "k", "operator": "Exists"}], []),
        "spec/restartPolicy": ("Always", "Never"),
        "spec/initContainers": ([{"name": "i", "image": "image:1"}],),
    },
    bad={
        "spec/containers": _BAD_CONTAINERS,
        "spec/volumes": ([{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}],),
        "spec/restartPolicy": ("Sometimes",),
        "spec/activeDeadlineSeconds": (-1, "text"),
        "spec/nodeName": ("Not A Node",),
        "spec": (None, {}),
    },
    points={
        "spec/containers/0/image": ("image:1", "image:2", ""),
        "spec/containers/0/env": _ENV,
        "spec/containers/-": (_B,),
        "spec/containers/1": (_B, _A),
        "spec/tolerations/-": ({"key": "l", "operator": "Exists"},),
    },
    directives={
        **_below("spec", _CONTAINER_ORDERS),
        "spec/volumes": ([{"name": "v", "$patch": "delete"}],),
        "spec/tolerations": ([{"$patch": "replace"}],),
        "metadata/$deleteFromPrimitiveList/finalizers": ([ONE],),
    },
    status=_POD_STATUS,
    bad_status={"status/phase": ("Sleeping", 1), "status/podIP": ("text",)},
)
_TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [_A]}}
DEPLOYMENT = Subject(
    "Deployment",
    "deployments",
    "apps/v1",
    content={"spec": {"selector": {"matchLabels": LABELS}, "template": _TEMPLATE}},
    good={
        "spec/replicas": (0, 1, 2, 3),
        "spec/paused": (True, False),
        "spec/minReadySeconds": (0, 5),
        "spec/revisionHistoryLimit": (1, 10),
        "spec/strategy": (
            {"type": "Recreate"},
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            {"rollingUpdate": {"maxUnavailable": "50%"}},
        ),
        "spec/template/metadata/labels": (LABELS, {"app": "a", "x": "y"}),
        "spec/template/metadata/annotations": ({"note": "1"}, {"note": "2"}, {}),
        "spec/template/spec/containers": _CONTAINERS,
        "spec/template/spec/volumes": _VOLUMES,
        "spec/template/spec/terminationGracePeriodSeconds": (0, 30),
        "spec/template/spec/nodeSelector": ({"zone": "1"}, {}),
    },
    bad={
        "spec/replicas": (-1, "text", 1.5),
        "spec/selector": ({"matchLabels": {"app": "b"}}, {}, None),
        "spec/strategy": (
            {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}},
            {"type": "Other"},
            {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}},
        ),
        "spec/template/metadata/labels": ({"app": "b"}, {}),
        "spec/template/spec/containers": _BAD_CONTAINERS,
        "spec/template/spec/restartPolicy": ("Never",),
        "spec/minReadySeconds": (-1,),
        "spec/template": (None, {}),
    },
    points={
        "spec/template/spec/containers/0/image": ("image:1", "image:2"),
        "spec/template/spec/containers/0/env": _ENV,
        "spec/template/spec/containers/0/env/-": ({"name": "G", "value": "4"},),
        "spec/template/spec/containers/-": (_B,),
        "spec/template/spec/containers/1": (_B,),
    },
    directives={
        **_below("spec/template/spec", _CONTAINER_ORDERS),
        "spec/strategy": (
            {"$retainKeys": ["type"], "type": "Recreate"},
            {"$patch": "replace", "type": "Recreate"},
        ),
        "spec/template/spec/volumes": (
            [{"name": "v", "$patch": "delete"}],
            [{"name": "w", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}}],
        ),
    },
    status=_WORKLOAD_STATUS,
    bad_status={"status/replicas": (-1, "text"), "status/readyReplicas": (9,)},
    scaled=True,
)
SERVICE = Subject(
    "Service",
    "services",
    content={"spec": {"ports": [{"port": 80}]}},
    good={
        "spec/selector": ({"app": "a"}, {"app": "b"}, {}),
        "spec/ports": (
            [{"port": 80}],
            [{"port": 80, "targetPort": 8080}],
            [{"name": "a", "port": 80}, {"name": "b", "port": 81, "targetPort": "web"}],
            [{"name": "b", "port": 80, "protocol": "UDP"}, {"name": "a", "port": 80}],
        ),
        "spec/sessionAffinity": ("None", "ClientIP"),
        "spec/type": ("ClusterIP", "NodePort", "LoadBalancer"),
        "spec/publishNotReadyAddresses": (True, False),
        "spec/externalTrafficPolicy": ("Cluster", "Local"),
        "spec/internalTrafficPolicy": ("Cluster", "Local"),
    },
    bad={
        "spec/ports": (
            [],
            [{"port": 0}],
            [{"port": 80}, {"port": 81}],
            [{"name": "a", "port": 80}, {"name": "a", "port": 81}],
            [{"port": 80, "protocol": "Other"}],
            [{"port": 80, "targetPort": 0}],
        ),
        "spec/type": ("Other", "ExternalName"),
        "spec/clusterIP": ("text", ""),
        "spec/sessionAffinity": ("Sometimes",),
    },
    points={
        "spec/ports/0/port": (80, 82),
        "spec/ports/0/name": ("a", "c"),
        "spec/ports/-": ({"name": "d", "port": 90},),
    },
    directives={
        "spec/ports": (
            [{"port": 80, "$patch": "delete"}],
            [{"port": 82, "name": "e"}, {"$patch": "replace"}],
            [{"port": 80, "name": "f"}],
        ),
        "spec/$setElementOrder/ports": ([{"port": 81}, {"port": 80}],),
        "spec/selector": ({"$patch": "replace", "app": "c"},),
    },
    status={
        "status/loadBalancer": ({"ingress": [{"ip": "10.0.0.1"}]}, {}),
        "status/conditions": (
            [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "R",
                    "message": "",
                    "lastTransitionTime": "2020-01-01T00:00:00Z",
                }
            ],
            [],
        ),
    },
    bad_status={"status/loadBalancer": ({"ingress": [{"ip": "text"}]},)},
    creates_status=True,
)
