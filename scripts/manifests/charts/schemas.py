"""What values may be: the parts of Kubernetes' objects that users of a chart write."""

from __future__ import annotations

from typing import Any

from manifests.charts.values import record

Plain = dict[str, Any]
TEXT: Plain = {"type": "string"}
SWITCH: Plain = {"type": "boolean"}
PORT: Plain = {"type": "integer", "minimum": 1, "maximum": 65535}
NAME: Plain = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}
WORDS: Plain = {"type": "object", "additionalProperties": TEXT}
"""Labels, annotations."""
_SCALAR: Plain = {"type": ["string", "number"]}
_AMOUNTS: Plain = {"type": "object", "additionalProperties": _SCALAR}
_KEY = record({"name": TEXT, "key": TEXT, "optional": SWITCH}, ("name", "key"))
_EXPRESSION = record(
    {"key": TEXT, "operator": TEXT, "values": {"type": "array", "items": TEXT}}, ("key", "operator")
)
SELECTOR = record(
    {"matchLabels": WORDS, "matchExpressions": {"type": "array", "items": _EXPRESSION}}
)


def listed(items: Plain, **more: Any) -> Plain:
    """A list of these."""
    return {"type": "array", "items": items, **more}


NAMESPACES = listed(NAME, uniqueItems=True)
REPLICAS: Plain = {"type": "integer", "minimum": 1}
REFERENCES = listed(record({"name": TEXT}, ("name",)))
RESOURCES = record(
    {
        "requests": _AMOUNTS,
        "limits": _AMOUNTS,
        "claims": listed(record({"name": TEXT, "request": TEXT}, ("name",))),
    }
)
TOLERATIONS = listed(
    record(
        {
            "key": TEXT,
            "operator": {"enum": ["Exists", "Equal"]},
            "value": TEXT,
            "effect": {"enum": ["", "NoSchedule", "PreferNoSchedule", "NoExecute"]},
            "tolerationSeconds": {"type": "integer"},
        }
    )
)
SPREAD = listed(
    record(
        {
            "maxSkew": {"type": "integer", "minimum": 1},
            "topologyKey": TEXT,
            "whenUnsatisfiable": {"enum": ["ScheduleAnyway", "DoNotSchedule"]},
            "minDomains": {"type": "integer", "minimum": 1},
            "nodeAffinityPolicy": {"enum": ["Honor", "Ignore"]},
            "nodeTaintsPolicy": {"enum": ["Honor", "Ignore"]},
        },
        ("maxSkew", "topologyKey", "whenUnsatisfiable"),
    )
)
_FIELD = record({"apiVersion": TEXT, "fieldPath": TEXT}, ("fieldPath",))
_RESOURCE = record({"containerName": TEXT, "resource": TEXT, "divisor": _SCALAR}, ("resource",))
_SOURCE = record(
    {
        "secretKeyRef": _KEY,
        "configMapKeyRef": _KEY,
        "fieldRef": _FIELD,
        "resourceFieldRef": _RESOURCE,
    }
)
ENV = listed(record({"name": TEXT, "value": TEXT, "valueFrom": _SOURCE}, ("name",)))
_BLOCK = record({"cidr": TEXT, "except": listed(TEXT)}, ("cidr",))
PEERS = listed(record({"namespaceSelector": SELECTOR, "podSelector": SELECTOR, "ipBlock": _BLOCK}))
_POLICY_PORT = record(
    {"protocol": {"enum": ["TCP", "UDP", "SCTP"]}, "port": {"type": ["integer", "string"]},
     "endPort": PORT}
)  # fmt: skip
EGRESS = listed(record({"ports": listed(_POLICY_PORT), "to": PEERS}))
