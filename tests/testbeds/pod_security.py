"""The `restricted` Pod Security Standard of Kubernetes, as far as a Linux pod can break it.

    violations(pod_spec)    what the admission of a namespace that enforces it would refuse

A spec is plain, as it is on the wire.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Plain = Mapping[str, Any]

_VOLUMES = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim",
    "projected", "secret",
}  # fmt: skip
_PROFILES = ("RuntimeDefault", "Localhost")
_HOST = ("hostNetwork", "hostPID", "hostIPC")
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def violations(spec: Plain) -> list[str]:
    """Everything about the spec of a pod that `restricted` forbids."""
    context = spec.get("securityContext") or {}
    found = [each for each in _HOST if spec.get(each)]
    found += [
        f"volume {each['name']} is none that may be mounted"
        for each in spec.get("volumes") or ()
        if not _VOLUMES & each.keys()
    ]
    found += ["sysctls"] if context.get("sysctls") else []
    found += [] if context.get("runAsUser") != 0 else ["it runs as root"]
    for part in _CONTAINERS:
        for container in spec.get(part) or ():
            found += [f"{container['name']}: {each}" for each in _container(container, context)]
    return found


def _container(container: Plain, pod: Plain) -> Iterator[str]:
    context = container.get("securityContext") or {}
    if context.get("privileged"):
        yield "it is privileged"
    if context.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation is not false"
    capabilities = context.get("capabilities") or {}
    if "ALL" not in (capabilities.get("drop") or ()):
        yield "it does not drop all capabilities"
    if set(capabilities.get("add") or ()) - {"NET_BIND_SERVICE"}:
        yield "it adds capabilities"
    if context.get("runAsNonRoot", pod.get("runAsNonRoot")) is not True:
        yield "runAsNonRoot is not true"
    if context.get("runAsUser") == 0:
        yield "it runs as root"
    profile = context.get("seccompProfile") or pod.get("seccompProfile") or {}
    if profile.get("type") not in _PROFILES:
        yield "it has no seccomp profile"
    if any(each.get("hostPort") for each in container.get("ports") or ()):
        yield "it has a port of the host"
    if context.get("procMount") not in (None, "Default"):
        yield "it has another procMount"
