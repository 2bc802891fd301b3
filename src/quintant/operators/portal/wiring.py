"""What wakes the controllers: which change of which kind, and whom it concerns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service
from quintant.core.object import Request
from quintant.operators.portal import standing
from quintant.operators.portal.api import (
    DEFAULT_CLASS,
    FINALIZER,
    TARGET_TLS,
    PortalExpose,
    TunnelClass,
)
from quintant.operators.portal.builders import EXPOSE_NAME, MANAGER, deployment_name
from quintant.operators.portal.classes import CLASS_INDEX, affected, class_values
from quintant.operators.portal.cleanup import cleanup
from quintant.operators.portal.reconcile import Reconcile
from quintant.runtime.controller import predicates
from quintant.runtime.controller.controller import RESYNC_JITTER
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.controller.sources import SourceContext
from quintant.runtime.manager.manager import Manager

SERVICE_INDEX = "service"
_TUNNELS = {"app.kubernetes.io/managed-by": MANAGER}
_TAKEN_NAME = deployment_name("")


def exposes(manager: Manager, reconcile: Reconcile) -> None:
    """Declare the controller of PortalExposes."""
    (
        manager.controls(PortalExpose, name=MANAGER, when=_wanted)
        .index(SERVICE_INDEX, _service)
        .index(CLASS_INDEX, class_values)
        .owns(Deployment)
        .watches(Deployment, to=_namesake, when=predicates.deleted)
        .watches(Pod, to=_tunnel, when=predicates.changed(_aspects), labels=_TUNNELS)
        .watches(Service, to=by_index(SERVICE_INDEX), when=predicates.changed(_ports))
        .watches(TunnelClass, to=by_index(CLASS_INDEX, affected), when=_shaped)
        .on(reconcile.scraper.run)
        .workers(reconcile.options.max_concurrent_reconciles)
        .finalize(FINALIZER, cleanup)
        .on_deleted(reconcile.forget)
        .reconcile(reconcile)
    )


def classes(manager: Manager) -> None:
    """Declare the controller of TunnelClasses: one key for all of them."""

    async def again(feed: SourceContext) -> None:
        while True:
            await asyncio.sleep(feed.random.jitter(manager.settings.resync, RESYNC_JITTER))
            feed.queue.add(standing.ALL)

    (
        manager.keyed("tunnel-class-controller")
        .watches(TunnelClass, to=lambda _: (standing.ALL,), when=_shaped)
        .uses(TunnelClass, "patch", sub="status")
        .on(again)
        .reconcile(standing.reconcile)
    )


_wanted = (
    predicates.generation
    | predicates.annotation(TARGET_TLS)
    | predicates.changed(lambda expose: expose.metadata.finalizers)
)
_shaped = predicates.generation | predicates.annotation(DEFAULT_CLASS)


def _service(expose: PortalExpose) -> Iterable[str]:
    return (f"{expose.metadata.namespace}/{expose.spec.app.service.name}",)


def _tunnel(pod: Pod) -> Iterable[Request]:
    """The PortalExpose of a tunnel, by its full name: a label may hold only a part of it."""
    name = pod.metadata.annotations.get(EXPOSE_NAME)
    return (Request(name, pod.metadata.namespace),) if name else ()


def _namesake(deployment: Deployment) -> Iterable[Request]:
    """The PortalExpose whose Deployment could not have its name; it can now."""
    name = deployment.metadata.name
    if name.endswith(_TAKEN_NAME):
        yield Request(name.removesuffix(_TAKEN_NAME), deployment.metadata.namespace)


def _ports(service: Service) -> object:
    return service.spec.ports, service.spec.type


def _aspects(pod: Pod) -> object:
    """What of a tunnel pod is told in a status, or needed to reach it."""
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    waits = tuple(each.state.waiting for each in statuses)
    placed = tuple(
        (each.status, each.reason) for each in pod.status.conditions if each.type == "PodScheduled"
    )
    return pod.ready, pod.deleting, pod.status.pod_ip, waits, placed
