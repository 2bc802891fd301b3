"""What matters in workloads that a definition takes as they are, without a schema.

`statefulSet.spec` and `podTemplate` are merged into what an operator makes: a user writes there
what Kubernetes knows, and what no pod can be made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintant.testing.explore.specs.schema import Schema

OPEN = "x-kubernetes-preserve-unknown-fields"
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "object", "additionalProperties": _TEXT}
_NUMBER: Schema = {"type": "integer", "format": "int32"}
_OBJECT: Schema = {"type": "object"}
_LIST: Schema = {"type": "array", "items": _OBJECT}


def _open(**fields: Schema) -> Schema:
    return {"type": "object", OPEN: True, "properties": fields}


POD: Schema = _open(
    serviceAccountName=_TEXT,
    affinity=_OBJECT,
    tolerations=_LIST,
    nodeSelector=_TEXTS,
    priorityClassName=_TEXT,
    terminationGracePeriodSeconds=_NUMBER,
    securityContext=_OBJECT,
    imagePullSecrets=_LIST,
)
POD_TEMPLATE: Schema = _open(metadata=_open(labels=_TEXTS, annotations=_TEXTS), spec=POD)
WORKLOAD: Schema = _open(replicas=_NUMBER, template=POD_TEMPLATE, minReadySeconds=_NUMBER)
BY_NAME: Mapping[str, Schema] = {
    "podspec": POD,
    "podtemplate": POD_TEMPLATE,
    "podtemplatespec": POD_TEMPLATE,
    "template": POD_TEMPLATE,
    "statefulsetspec": WORKLOAD,
    "deploymentspec": WORKLOAD,
}
"""By the name of a field, or by its name and that of the one above; in small letters."""


def with_workloads(schema: Schema, name: str = "") -> Schema:
    """A schema in which what takes everything has the schema of the workload that it is."""
    if schema.get(OPEN) and not schema.get("properties"):
        return BY_NAME.get(name.lower().rpartition(".")[2]) or (
            BY_NAME.get(name.lower().replace(".", ""), schema)
        )
    made: dict[str, Any] = dict(schema)
    if isinstance(schema.get("properties"), dict):
        last = name.rpartition(".")[2]
        made["properties"] = {
            key: with_workloads(below, f"{last}.{key}")
            for key, below in schema["properties"].items()
        }
    if isinstance(schema.get("items"), dict):
        made["items"] = with_workloads(schema["items"], name)
    return made
