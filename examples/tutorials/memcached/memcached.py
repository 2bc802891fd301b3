"""Memcached: as many pods of it as an object asks for, and a condition that says how they are.

The tutorial of operator-sdk, with Quintant. An object becomes a Deployment of its own; what the
Deployment says of itself becomes the status. Whoever scales the Deployment by hand is set right.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from quintant import Context, Custom, Manager, Model, ObjectMeta, Opaque, owned, resource
from quintant.api.apps import Deployment, DeploymentSpec
from quintant.api.core import (
    Capabilities,
    Container,
    ContainerPort,
    PodSecurityContext,
    PodSpec,
    PodTemplateSpec,
    SeccompProfile,
    SecurityContext,
)
from quintant.api.meta import Condition, LabelSelector, set_condition
from quintant.core.schema.markers import default, list_map

IMAGE = "docker.io/library/memcached:1.6-alpine"
PORT = 11211
# The user memcache of that image.
USER = 11211
AVAILABLE = "Available"


class MemcachedSpec(Model):
    """What is wanted."""

    size: Annotated[int, Meta(ge=1, le=5, description="How many pods.")]
    container_port: Annotated[Annotated[int, Meta(ge=1, le=65535)] | None, default(PORT)] = None


class MemcachedStatus(Model):
    """What became of it."""

    ready: int | None = None
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(
    group="cache.example.com",
    version="v1alpha1",
    status=True,
    columns={"Size": ".spec.size", "Ready": ".status.ready"},
)
class Memcached(Custom[MemcachedSpec, MemcachedStatus]):
    """Pods of memcached."""


def build(obj: Memcached) -> Deployment:
    """The Deployment that an object should have."""
    labels = {
        "app.kubernetes.io/name": "memcached",
        "app.kubernetes.io/instance": obj.metadata.name,
    }
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=labels),
        spec=PodSpec(
            security_context=PodSecurityContext(
                run_as_non_root=True, seccomp_profile=SeccompProfile(type="RuntimeDefault")
            ),
            containers=(_container(obj.spec.container_port or PORT),),
        ),
    )
    spec = DeploymentSpec(
        replicas=obj.spec.size,
        selector=LabelSelector(match_labels=labels),
        template=Opaque.of(template),
    )
    return Deployment(metadata=ObjectMeta.like(obj), spec=spec)


def _container(port: int) -> Container:
    return Container(
        name="memcached",
        image=IMAGE,
        command=("memcached", f"--port={port}", "--memory-limit=64"),
        ports=(ContainerPort(container_port=port, name="memcached"),),
        security_context=SecurityContext(
            run_as_user=USER,
            allow_privilege_escalation=False,
            capabilities=Capabilities(drop=("ALL",)),
        ),
    )


async def reconcile(obj: Memcached, ctx: Context[Memcached]) -> None:
    """Keep the Deployment, and say how it is."""
    await ctx.apply(owned(build(obj), by=obj))
    found = await ctx.client.find(Deployment, obj.metadata.name, obj.metadata.namespace)
    ready = found.status.ready_replicas if found is not None else 0
    known = obj.status.conditions if obj.status is not None else ()
    enough = ready >= obj.spec.size
    conditions = set_condition(
        known,
        AVAILABLE,
        status=enough,
        reason="AllPodsReady" if enough else "PodsMissing",
        message=f"{ready} of {obj.spec.size} pods are ready",
        generation=obj.metadata.generation,
        now=ctx.clock.now(),
    )
    await ctx.set_status(MemcachedStatus(ready=ready, conditions=conditions))


def make_manager() -> Manager:
    """Everything the program runs."""
    manager = Manager("memcached")
    manager.controls(Memcached).owns(Deployment).reconcile(reconcile)
    return manager


manager = make_manager()

if __name__ == "__main__":
    manager.run()
