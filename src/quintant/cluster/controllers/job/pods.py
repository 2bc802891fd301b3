"""addCompletionIndexEnvVariables: pods from a Job's template, with finalizer and index."""

from __future__ import annotations

from typing import Any

from quintant.api.batch import Job
from quintant.cluster.common.completion_index import ANNOTATION, VARIABLE
from quintant.cluster.controllers.job.plan import PodSlot
from quintant.cluster.controllers.job.traits import TRACKING
from quintant.cluster.controllers.pods.templates import NewPod, pod_from_template
from quintant.core.object import Opaque, replace

"""The environment variable by which a container knows its index."""
PREFIX_LENGTH = 58
"""What is left of a name before five random characters."""


def pod_for(job: Job, slot: PodSlot) -> NewPod:
    """The pod that works on an index, or on none."""
    index = slot.index
    pod = pod_from_template(job.spec.template, job)
    meta = pod.metadata
    if TRACKING not in meta.finalizers:
        meta = replace(meta, finalizers=(*meta.finalizers, TRACKING))
    if index is None:
        return replace(pod, metadata=meta)
    number, name = {ANNOTATION: str(index)}, job.metadata.name
    meta = replace(
        meta,
        generate_name=prefix(name, index),
        labels={**meta.labels, **number},
        annotations={**meta.annotations, **number, **slot.marks},
    )
    return replace(pod, metadata=meta, spec=_numbered(pod.spec, f"{name}-{index}"))


def prefix(name: str, index: int) -> str:
    """What the name of a numbered pod begins with; of a long name, the end is cut."""
    end = f"-{index}-"
    return f"{name[: PREFIX_LENGTH - len(end)]}{end}"


def _numbered(spec: Opaque, hostname: str) -> Opaque:
    value: dict[str, Any] = spec.value
    value["hostname"] = hostname
    for container in (*value.get("initContainers", ()), *value.get("containers", ())):
        variables = container.setdefault("env", [])
        if all(variable["name"] != VARIABLE for variable in variables):
            source = {"fieldRef": {"fieldPath": f"metadata.labels['{ANNOTATION}']"}}
            variables.append({"name": VARIABLE, "valueFrom": source})
    return Opaque.of(value)
