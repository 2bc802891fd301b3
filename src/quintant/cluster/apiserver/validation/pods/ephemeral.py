"""validateEphemeralContainers: containers that are added to a pod for debugging it."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.meta.field_errors import forbidden, not_found
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.pods.containers import common_causes
from quintant.core.errors import Cause

_PATH = "spec.ephemeralContainers"
_NOT_ALLOWED = (
    *("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
)
"""What only containers that a pod is made of may have."""
_WHY = "cannot be set for an Ephemeral Container"


def ephemeral_causes(path: str, spec: JsonObject, volumes: set[str]) -> Iterator[Cause]:
    """What is wrong with the ephemeral containers of a pod."""
    lasting = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    others = {each.get("name", "") for each in lasting}
    taken = set(others)
    for at, container in enumerate(spec.get("ephemeralContainers") or ()):
        item_path, aim = f"{path}[{at}]", container.get("targetContainerName")
        yield from common_causes(item_path, container, volumes, taken)
        if aim and aim not in others:
            yield not_found(f"{item_path}.targetContainerName", aim)
        for name in _NOT_ALLOWED:
            if container.get(name):
                yield forbidden(f"{item_path}.{name}", _WHY)
        yield from _mount_causes(f"{item_path}.volumeMounts", container)


def ephemeral_update_causes(spec: JsonObject, before: JsonObject) -> Iterator[Cause]:
    """Ephemeral containers are only ever added."""
    now = {each["name"]: each for each in spec.get("ephemeralContainers") or ()}
    for each in before.get("ephemeralContainers") or ():
        subject = f'existing ephemeral containers "{each["name"]}"'
        if each["name"] not in now:
            yield forbidden(_PATH, f"{subject} may not be removed\n")
        elif now[each["name"]] != each:
            yield forbidden(_PATH, f"{subject} may not be changed\n")


def _mount_causes(path: str, container: JsonObject) -> Iterator[Cause]:
    for at, mount in enumerate(container.get("volumeMounts") or ()):
        for name in ("subPath", "subPathExpr"):
            if mount.get(name):
                yield forbidden(f"{path}[{at}].{name}", _WHY)
