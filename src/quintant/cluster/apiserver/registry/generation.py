"""What counts as a change of a workload, beyond its spec.

A Deployment's generation grows with its annotations, too: its ReplicaSets take them over. That of a
DaemonSet's template is an annotation that nobody sets but the server.
"""

from __future__ import annotations

from quintant.cluster.apiserver.meta.types import JsonObject

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def bump_deployment_generation(obj: JsonObject, live: JsonObject) -> None:
    """Count a change of annotations, in place."""
    if _annotations(obj) != _annotations(live):
        obj["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1


def bump_template_generation(obj: JsonObject, live: JsonObject) -> None:
    """Count a change of the template, in place, whatever the client says of it."""
    count = _annotations(live).get(TEMPLATE_GENERATION, "0")
    if obj["spec"].get("template") != live["spec"].get("template"):
        count = str(int(count) + 1 if count.isdecimal() else 1)
    obj["metadata"]["annotations"] = {**_annotations(obj), TEMPLATE_GENERATION: count}


def bump_slice_generation(obj: JsonObject, live: JsonObject) -> None:
    """Count a change of labels, in place."""
    if obj["metadata"].get("labels") != live["metadata"].get("labels"):
        obj["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1


def _annotations(obj: JsonObject) -> JsonObject:
    found: JsonObject = obj["metadata"].get("annotations") or {}
    return found
