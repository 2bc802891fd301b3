"""A pod with every field that the pinned Kubernetes has, made from its tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, cycle
from typing import Any

from quintant.cluster.apiserver.go_types import (
    FieldKind,
    FieldType,
    MessageField,
    MessageType,
    message,
)
from unit.cluster.api import JsonObject

SPEC = "core.v1.PodSpec"
SOURCES = "core.v1.VolumeSource"
LEFT_OUT = frozenset(
    {
        "activeDeadlineSeconds",  # only of pods that end
        "ephemeralContainers",  # only ever added to a pod that runs
        "priority",  # follows from the class
        "serviceAccount",  # the old name of serviceAccountName, which the server keeps alike
    }
)
EITHER: dict[str, tuple[str, ...]] = {
    "core.v1.Probe": ("exec", "httpGet", "tcpSocket", "grpc"),
    "core.v1.LifecycleHandler": ("exec", "httpGet", "tcpSocket", "sleep"),
    "core.v1.EnvVar": ("value", "valueFrom"),
    "core.v1.EnvVarSource": (
        *("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef"),
        "fileKeyRef",
    ),
    "core.v1.EnvFromSource": ("configMapRef", "secretRef"),
    "core.v1.VolumeMount": ("subPath", "subPathExpr"),
    "core.v1.DownwardAPIVolumeFile": ("fieldRef", "resourceFieldRef"),
    "core.v1.FCVolumeSource": ("targetWWNs", "wwids"),
    SPEC: ("hostPID", "shareProcessNamespace"),
}
"""Fields that exclude each other: each message that is made has the next of them."""
MOUNTED = "v-emptydir"
GIVEN: JsonObject = {
    "restartPolicy": "Always",
    "serviceAccountName": "default",
    "priorityClassName": "system-node-critical",
    "preemptionPolicy": "PreemptLowerPriority",
    "successThreshold": 1,
    "limits": {"cpu": "64"},
    "requests": {"cpu": "64"},
    "mode": 0o640,
    "defaultMode": 0o640,
    "weight": 50,
    "fieldPath": "metadata.name",
    "nameservers": ["10.0.0.1"],
    "ip": "10.0.0.1",
    "accessModes": ["ReadWriteOnce"],
    "expirationSeconds": 3600,
}
"""What the server accepts for a field where it is particular."""
GIVEN_IN: dict[str, JsonObject] = {
    "core.v1.NFSVolumeSource": {"path": "/exported"},
    "core.v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core.v1.PodOS": {"name": "linux"},
    "core.v1.ResourceFieldSelector": {"resource": "limits.cpu"},
    "core.v1.SleepAction": {"seconds": 1},
    "core.v1.VolumeResourceRequirements": {"requests": {"storage": "64"}},
    "meta.v1.LabelSelectorRequirement": {"operator": "In"},
}
"""The same where it depends on the message."""
PLAIN: dict[FieldKind, Any] = {
    FieldKind.BOOL: True,
    FieldKind.TIME: "2026-01-02T03:04:05Z",
    FieldKind.QUANTITY: "64",
    FieldKind.INT_OR_STRING: 80,
    FieldKind.JSON: {"f:a": {}},
}


def every_field() -> JsonObject:
    """What a pod shall be, with every field that a template can have."""
    filler = Filler()
    spec = {**filler.fill(message(SPEC)), "volumes": [*filler.volumes()]}
    for container in (*spec["containers"], *spec["initContainers"]):
        for mount in container["volumeMounts"]:
            mount["name"] = MOUNTED
        del container["readinessProbe"]["terminationGracePeriodSeconds"]
    return spec


class Filler:
    """Fills in every field, strings and numbers each with a value of their own."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._turns = {name: cycle(fields) for name, fields in EITHER.items()}

    def fill(self, kind: MessageType) -> JsonObject:
        """A message with a value in every field."""
        others = set(EITHER.get(kind.name, ()))
        if others:
            others.remove(next(self._turns[kind.name]))
        fields = [it for it in kind.fields.values() if it.name not in LEFT_OUT | others]
        given = {**GIVEN, **GIVEN_IN.get(kind.name, {})}
        return {it.name: given.get(it.name) or self._value(it, it.type) for it in fields}

    def volumes(self) -> Iterator[JsonObject]:
        """A volume for each kind of source: one can have only one."""
        for field in message(SOURCES).fields.values():
            yield {
                "name": f"v-{field.name.lower()}",
                field.name: self._value(field, field.type),
            }

    def _value(self, field: MessageField, type: FieldType) -> Any:
        if type.of is not None:
            one = self._value(field, type.of)
            return {f"k{next(self._numbers)}": one} if type.kind is FieldKind.MAP else [one]
        if type.kind is FieldKind.MESSAGE:
            return self.fill(type.message)
        if field.traits.enum:
            return field.traits.enum[0]
        if type.kind in (FieldKind.INT32, FieldKind.INT64):
            return next(self._numbers)
        return PLAIN.get(type.kind) or f"{field.name.lower()}-{next(self._numbers)}"
