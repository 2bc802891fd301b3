"""What a PortalExpose depends on: what wakes it, how it is read, and what it looks like then.

`observe` reads the caches and what tunnels told; `Observed` is the input of every decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service
from quintant.api.meta import condition_of
from quintant.core.clock import parse_timestamp
from quintant.core.errors import Cause
from quintant.core.object import Request
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
    adoptable,
    deployment_name,
    key_name,
    labels,
)
from quintant.operators.portal.options import Options
from quintant.operators.portal.remote import TunnelPod
from quintant.operators.portal.rules import unshared, validate_expose
from quintant.operators.portal.tunnel_class.plan import resolve
from quintant.runtime.apply import controlled
from quintant.runtime.cache.client import Client
from quintant.runtime.controller import predicates
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.follower import Follower
from quintant.wire.tunnelreport import Report

TunnelReports: TypeAlias = Follower[TunnelPod, Report]

SERVICE_INDEX = "service"
TOKEN_INDEX = "token"
CLASS_INDEX = "class"
"""The index of PortalExposes by the class they name; those that name none are under ""."""
POD_INDEX = "portalexpose"
"""The index of pods by the PortalExpose whose label they carry."""


def _told(expose: PortalExpose) -> object:
    """Its finalizers, and what its status says."""
    return expose.metadata.finalizers, expose.status


CHANGED = (
    predicates.generation
    | predicates.annotation(TARGET_TLS)
    # A process that started from an old list hears only now what an earlier one had said last.
    | predicates.changed(_told)
)
HEARING_SECONDS = 3.0
"""How long the first word of a tunnel may take before it is missed."""
_OUR_NAME = deployment_name("")


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A tunnel pod that is not going away, and what it told last."""

    ready: bool
    report: Report | None


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that was read about one PortalExpose."""

    expose: PortalExpose
    service: Service | None
    tunnel_class: TunnelClass | None
    found: Deployment | None
    """What has the name of our Deployment, whoever's it is."""
    pods: tuple[Pod, ...] = ()
    reports: Mapping[str, Report] = field(default_factory=dict)
    """What each pod told last, by uid."""
    expected: bool = False
    """Whether we began so lately to listen to a tunnel that its first word may be on its way."""
    key: TunnelKey | None = None
    """The Secret with the tunnels' key."""
    keyed: bool = True
    """Whether the tunnels need one: other images make their own."""
    errors: tuple[Cause, ...] = ()
    """What is wrong with its spec."""
    unshared: tuple[str, ...] = ()
    """Which Secrets are not for the relays that would see them."""
    assume: bool = False
    """Believe that ready pods are connected, as the contract's simplification has it."""
    now: datetime = datetime.min

    @property
    def deployment(self) -> Deployment | None:
        """The Deployment if it is ours, or ours to adopt."""
        if self.found is None or controlled(self.found, self.expose):
            return self.found
        return self.found if adoptable(self.found, labels(self.expose.metadata.name)) else None

    @property
    def total(self) -> int:
        """How many tunnels there should be; without a class, as many as it last said."""
        if self.tunnel_class is not None:
            return self.tunnel_class.spec.replicas
        return (self.deployment.spec.replicas or 0) if self.deployment else 0

    @property
    def blocked(self) -> bool:
        """Whether something is missing or wrong, without which there can be no tunnels."""
        wrong = self.errors or self.unshared
        return bool(wrong) or self.service is None or self.tunnel_class is None

    @property
    def living(self) -> tuple[Pod, ...]:
        """The tunnel pods that are not on their way out."""
        return tuple(pod for pod in self.pods if not pod.deleting and self._ours(pod))

    @property
    def ready(self) -> int:
        """How many tunnels are ready, and no more than there should be.

        Where no pods are to be seen, as on a plane without nodes, the Deployment's word counts.
        """
        if not self.pods and self.deployment is not None:
            found = self.deployment.status.ready_replicas
        else:
            found = sum(pod.ready for pod in self.living)
        return min(found, self.total) if self.total else found

    @property
    def unheard(self) -> bool:
        """Whether the first word of a tunnel may be on its way: it is new, or new to us."""
        if self.expected:
            return True
        if self.assume or self.reports:
            return False
        told = [condition_of(pod.status.conditions, "Ready") for pod in self.living if pod.ready]
        since = [each.last_transition_time for each in told if each and each.last_transition_time]
        late = self.now - timedelta(seconds=HEARING_SECONDS)
        return any(parse_timestamp(each) > late for each in since)

    @property
    def tunnels(self) -> tuple[Tunnel, ...]:
        """What each living pod tells."""
        return tuple(Tunnel(pod.ready, self.reports.get(pod.metadata.uid)) for pod in self.living)

    def _ours(self, pod: Pod) -> bool:
        """Whether a pod comes from a ReplicaSet of our Deployment, and not only looks so."""
        held = controller_of(pod)
        if held is None or self.deployment is None:
            return False
        return held.kind == "ReplicaSet" and held.name.startswith(
            f"{self.deployment.metadata.name}-"
        )


async def observe(ctx: Context[PortalExpose], options: Options, reports: TunnelReports) -> Observed:
    """Read everything, and listen to the tunnels that there are now."""
    expose, client, place = ctx.obj, ctx.client, ctx.request.namespace
    chosen = labels(expose.metadata.name)[EXPOSE_LABEL]
    seen = Observed(
        expose=expose,
        service=await client.find(Service, expose.spec.app.service.name, place),
        tunnel_class=resolve(expose, await client.list(TunnelClass)),
        found=await client.find(Deployment, deployment_name(expose.metadata.name), place),
        pods=tuple(await client.list(Pod, index=(POD_INDEX, f"{place}/{chosen}"))),
        key=await client.find(TunnelKey, key_name(expose.metadata.name), place),
        keyed=not options.tunnels.silent,
        errors=tuple(validate_expose(expose.spec)),
        unshared=tuple(unshared(expose.spec, await find_tokens(client, expose))),
        assume=options.relay_status_source == "assume",
        now=ctx.clock.now(),
    )
    # Whoever only carries our labels is not asked, and not believed.
    asked = [] if seen.assume else [pod for pod in seen.living if pod.status.pod_ip]
    told = reports.want(
        ctx.request,
        {pod.metadata.uid: TunnelPod(pod.metadata.uid, pod.status.pod_ip) for pod in asked},
        ready={pod.metadata.uid for pod in asked if pod.ready},
    )
    expected = reports.awaits_first_word(ctx.request, HEARING_SECONDS)
    return replace(seen, reports=told, expected=expected)


def pod_key(pod: Pod) -> Iterable[str]:
    """Where the index of pods files the pod of a tunnel: among those of its PortalExpose."""
    return (f"{pod.metadata.namespace}/{pod.metadata.labels.get(EXPOSE_LABEL, '')}",)


def service_key(expose: PortalExpose) -> Iterable[str]:
    """Where the index of Services files a PortalExpose."""
    return (f"{expose.metadata.namespace}/{expose.spec.app.service.name}",)


def token_keys(expose: PortalExpose) -> Iterable[str]:
    """Where the index of Secrets files a PortalExpose."""
    place = expose.metadata.namespace
    return {f"{place}/{name}" for name in _token_names(expose)}


async def find_tokens(client: Client, expose: PortalExpose) -> Mapping[str, RelayToken]:
    """The Secrets of its relays that are there to be shown to relays, by name."""
    place = expose.metadata.namespace
    found = [await client.find(RelayToken, name, place) for name in _token_names(expose)]
    return {each.metadata.name: each for each in found if each is not None}


def _token_names(expose: PortalExpose) -> list[str]:
    refs = [target.auth_secret_ref for target in expose.spec.relay.targets]
    return sorted({ref.name for ref in refs if ref is not None})


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
    name = deployment.metadata.name
    if name.endswith(_OUR_NAME):
        yield Request(name.removesuffix(_OUR_NAME), deployment.metadata.namespace)


def key_owner(key: TunnelKey) -> Iterable[Request]:
    """The PortalExpose whose key it is."""
    held = controller_of(key)
    if held is not None and held.kind == PortalExpose.__name__:
        yield Request(held.name, key.metadata.namespace)


def service_aspects(service: Service) -> object:
    """What of a Service matters here."""
    return service.spec.ports, service.spec.type


def pod_aspects(pod: Pod) -> object:
    """What of a tunnel pod is told in a status, or needed to reach it."""
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    waits = tuple(each.state.waiting for each in statuses)
    placed = tuple(
        (each.status, each.reason) for each in pod.status.conditions if each.type == "PodScheduled"
    )
    return pod.ready, pod.deleting, pod.status.pod_ip, waits, placed
