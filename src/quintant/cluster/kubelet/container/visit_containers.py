"""VisitContainers: every container of a pod, whatever it is there for."""

from __future__ import annotations

from quintant.api.container import Container
from quintant.api.pod import PodSpec


def visit_containers(spec: PodSpec) -> tuple[Container, ...]:
    """Those that prepare a pod first, then its own, then those that were added for debugging."""
    return (*spec.init_containers, *spec.containers, *spec.ephemeral_containers)


def container_field(spec: PodSpec, name: str) -> str:
    """Where in a pod's spec a container is, as events point at it."""
    lists = {
        "initContainers": spec.init_containers,
        "ephemeralContainers": spec.ephemeral_containers,
    }
    found = (at for at, each in lists.items() if any(one.name == name for one in each))
    return f"spec.{next(found, 'containers')}{{{name}}}"
