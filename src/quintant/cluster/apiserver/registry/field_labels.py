"""AddFieldLabelConversionFunc: the field selectors of the built-in kinds. Data.

A field selector names a field by a label. Most labels are the path of what they mean; the others
are aliases. An entry remembers the value of each path from the moment it is stored.
Part of quintant.cluster.apiserver.registry.builtin.
"""

from __future__ import annotations

from quintant.cluster.apiserver.kinds.kind import FieldLabels
from quintant.cluster.apiserver.registry.certificates import CSRS
from quintant.core.resource import Resource

_ONLY_METADATA = (
    '"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'
)
_REFUSAL = {
    **dict.fromkeys(
        ("pods", "nodes", "namespaces", "secrets", "services", "events", CSRS),
        "field label not supported: {label}",
    ),
    "jobs": 'field label "{label}" not supported for {kind}',
}
_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
# What can be selected by, and its value when absent.
_VALUES: dict[str, dict[str, str]] = {
    "pods": {
        **dict.fromkeys(("spec.nodeName", "spec.restartPolicy", "spec.schedulerName"), ""),
        **dict.fromkeys(("spec.serviceAccountName", "status.phase", "status.podIP"), ""),
        "status.nominatedNodeName": "",
        "spec.hostNetwork": "false",
    },
    "nodes": {"spec.unschedulable": "false"},
    "namespaces": {"status.phase": ""},
    "secrets": {"type": ""},
    "services": {"spec.clusterIP": "", "spec.type": ""},
    "events": {
        **{f"involvedObject.{name}": "" for name in _INVOLVED},
        **dict.fromkeys(("reason", "reportingComponent", "source.component", "type"), ""),
    },
    "jobs": {"status.succeeded": "0"},
    CSRS: {"spec.signerName": ""},
    "resourceslices": {"spec.driver": "", "spec.nodeName": ""},
}
# Names to select by that are not the path of what they mean.
_ALIASES: dict[str, dict[str, str]] = {
    "pods": {"status.podIPs": "status.podIP"},
    "events": {"source": "source.component"},
    "events.events.k8s.io": {
        **{f"regarding.{name}": f"involvedObject.{name}" for name in _INVOLVED},
        "reason": "reason",
        "type": "type",
        "reportingController": "reportingComponent",
    },
    "jobs.batch": {"status.successful": "status.succeeded"},
}
# What stands for an absent value.
_FALLBACKS: dict[str, dict[str, str]] = {"events": {"source.component": "reportingComponent"}}


def field_labels_of(resource: Resource) -> FieldLabels:
    """What objects of a built-in kind can be selected by."""
    values = _VALUES.get(resource.plural, {})
    paths = _ALIASES.get(resource.full_name, {})
    if resource.full_name != "events.events.k8s.io":
        paths = {path: path for path in values} | paths
    refusal = _REFUSAL.get(resource.plural, _ONLY_METADATA)
    return FieldLabels(paths, values, _FALLBACKS.get(resource.plural, {}), refusal)
