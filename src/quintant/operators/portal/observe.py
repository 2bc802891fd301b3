"""What wakes a PortalExpose, and how everything that it depends on is read.

`observe` reads the caches and what tunnels reported into an `Observed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service
from quintant.core.object import Object, Request
from quintant.core.owner import controller_of
from quintant.operators.portal.api import (
    TARGET_TLS,
    PortalExpose,
    RelayToken,
    TunnelClass,
    TunnelKey,
)
from quintant.operators.portal.builders import (
    EXPOSE_LABEL,
    EXPOSE_NAME,
    deployment_name,
    key_name,
    labels,
)
from quintant.operators.portal.observed import HEARING_SECONDS, Observed
from quintant.operators.portal.options import Options
from quintant.operators.portal.remote import TunnelPod
from quintant.operators.portal.rules import unshared, validate_class, validate_expose
from quintant.operators.portal.tunnel_class.plan import resolve
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import Context
from quintant.runtime.source import predicates
from quintant.runtime.source.follower import Follower
from quintant.wire.tunnelreport import Report

TunnelReports: TypeAlias = Follower[TunnelPod, Report]

SERVICE_INDEX = "service"
TOKEN_INDEX = "token"
CLASS_INDEX = "class"
"""The index of PortalExposes by the class they name; those that name none are under ""."""
POD_INDEX = "portalexpose"
"""The index of pods by the PortalExpose whose label they carry."""


def _written_aspects(expose: PortalExpose) -> object:
    """What we write of it: its finalizers and its status."""
    return expose.metadata.finalizers, expose.status


CHANGED = (
    predicates.generation
    | predicates.annotation(TARGET_TLS)
    # A process that started from an old list sees only now what an earlier one wrote last.
    | predicates.changed(_written_aspects)
)
_DEPLOYMENT, _KEY = deployment_name(""), key_name("")


async def observe(ctx: Context[PortalExpose], options: Options, reports: TunnelReports) -> Observed:
    """Read everything, and listen to the tunnels that there are now."""
    expose, client, namespace = ctx.obj, ctx.client, ctx.request.namespace
    chosen, name = labels(expose.metadata.name)[EXPOSE_LABEL], expose.spec.app.service.name
    tunnel_class = resolve(expose, await client.list(TunnelClass))
    observed = Observed(
        expose=expose,
        # Where no webhook is, it may have no name: then there is no such Service.
        service=await client.find(Service, name, namespace) if name else None,
        tunnel_class=tunnel_class,
        existing=await client.find_any(Deployment, deployment_name(ctx.request.name), namespace),
        # Where a PortalExpose is reconciled, the pods of its tunnels are held.
        pods=tuple(await client.list(Pod, index=(POD_INDEX, f"{namespace}/{chosen}"), held=True)),
        key=await client.find_any(TunnelKey, key_name(ctx.request.name), namespace),
        keyed=not options.tunnels.silent,
        errors=tuple(validate_expose(expose.spec)),
        class_errors=tuple(validate_class(tunnel_class.spec)) if tunnel_class else (),
        unshared=tuple(unshared(expose.spec, await find_tokens(client, expose))),
        assume=options.relay_status_source == "assume",
        now=ctx.clock.now(),
    )
    # A pod that only carries our labels is not asked, and not believed.
    pods = [] if observed.assume else [pod for pod in observed.living if pod.status.pod_ip]
    newest = reports.want(
        ctx.request,
        {pod.metadata.uid: TunnelPod(pod.metadata.uid, pod.status.pod_ip) for pod in pods},
        ready={pod.metadata.uid for pod in pods if pod.ready},
    )
    expected = reports.awaits_first_word(ctx.request, HEARING_SECONDS)
    return replace(observed, reports=newest, expected=expected)


def pod_key(pod: Pod) -> Iterable[str]:
    """Where the index of pods files the pod of a tunnel: among those of its PortalExpose."""
    return (f"{pod.metadata.namespace}/{pod.metadata.labels.get(EXPOSE_LABEL, '')}",)


def service_key(expose: PortalExpose) -> Iterable[str]:
    """Where the index of Services files a PortalExpose."""
    return (f"{expose.metadata.namespace}/{expose.spec.app.service.name}",)


def token_keys(expose: PortalExpose) -> Iterable[str]:
    """Where the index of Secrets files a PortalExpose."""
    namespace = expose.metadata.namespace
    return {f"{namespace}/{name}" for name in _token_names(expose)}


async def find_tokens(client: Client, expose: PortalExpose) -> Mapping[str, RelayToken]:
    """The Secrets of its relays that are there to be shown to relays, by name."""
    namespace = expose.metadata.namespace
    tokens = [await client.find(RelayToken, name, namespace) for name in _token_names(expose)]
    return {each.metadata.name: each for each in tokens if each is not None}


def _token_names(expose: PortalExpose) -> list[str]:
    refs = [target.auth_secret_ref for target in expose.spec.relay.targets]
    return sorted({ref.name for ref in refs if ref is not None and ref.name})


def class_name(expose: PortalExpose) -> Iterable[str]:
    """Where the index of classes files a PortalExpose."""
    return (expose.spec.tunnel_class_name,)


def affected(tunnel_class: TunnelClass) -> Iterable[str]:
    """Where the index has those whom a change of a class may concern.

    Whether it is, was or shall be the default is not asked: one that is not is quickly seen.
    """
    return (tunnel_class.metadata.name, "")


def expose_of(pod: Pod) -> Iterable[Request]:
    """The PortalExpose of a tunnel, by its full name: a label may hold only a part of it."""
    name = pod.metadata.annotations.get(EXPOSE_NAME)
    return (Request(name, pod.metadata.namespace),) if name else ()


def namesake(deployment: Deployment) -> Iterable[Request]:
    """The PortalExpose whose Deployment could not have its name; it can now."""
    yield from _named(deployment, _DEPLOYMENT)


def key_users(key: TunnelKey) -> Iterable[Request]:
    """The PortalExpose whose key it is, and the one whose key has its name."""
    held = controller_of(key)
    if held is not None and held.kind == PortalExpose.__name__:
        yield Request(held.name, key.metadata.namespace)
    yield from _named(key, _KEY)


def _named(child: Object, suffix: str) -> Iterable[Request]:
    """The PortalExpose of which a child would have this name, unless it was cut."""
    name = child.metadata.name
    if name.endswith(suffix):
        yield Request(name.removesuffix(suffix), child.metadata.namespace)


def service_aspects(service: Service) -> object:
    """What of a Service matters here."""
    return service.spec.ports, service.spec.type


def pod_aspects(pod: Pod) -> object:
    """What of a tunnel pod is in a status, or needed to reach it."""
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    waits = tuple(each.state.waiting for each in statuses)
    placed = tuple(
        (each.status, each.reason) for each in pod.status.conditions if each.type == "PodScheduled"
    )
    return pod.ready, pod.deleting, pod.status.pod_ip, waits, placed
