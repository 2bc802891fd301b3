"""networkingv1.Ingress, networkingv1.IngressClass: what is served, kept in line with objects.

An Ingress is ours by its class, or by the default class if it names none. Its status says where it
is served, with the ports that were mapped. A Secret that cannot be used harms the hosts that it is
for and nothing else: they are shown the cluster's own certificate, and an event says why.
"""

from __future__ import annotations

import ssl
from base64 import b64decode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from quintant.api.core import ConfigMap, Secret, Service
from quintant.api.discovery import SERVICE_LABEL, EndpointSlice
from quintant.api.meta import ObjectMeta
from quintant.cluster.kubeproxy.ingress.backends import Backends
from quintant.cluster.kubeproxy.ingress.certificates import Certificates, server_context
from quintant.cluster.kubeproxy.ingress.routes import (
    ANY_HOST,
    IngressRules,
    RouteTable,
    ingress_rules,
)
from quintant.cluster.kubeproxy.ingress.views import (
    Ingress,
    IngressClass,
    IngressLoadBalancerIngress,
    IngressLoadBalancerStatus,
    IngressPortStatus,
    IngressStatus,
)
from quintant.cluster.kubeproxy.port_table import format_table, parse_table
from quintant.cluster.kubeproxy.routes import TCP
from quintant.core.clock import Random
from quintant.core.object import Request
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext

if TYPE_CHECKING:
    from quintant.cluster.kubeproxy.ingress.listeners import Listeners

NAME = "ingress-controller"
CONTROLLER = "quintant.dev/ingress"
"""What an IngressClass of ours names."""
DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
LEGACY_CLASS = "kubernetes.io/ingress.class"
"""The annotation that was there before classes."""
TABLE = ObjectMeta(name="ingress-ports", namespace="kube-system")
_OWNER = Request("ingress", "kube-system")


class BrokenSecret(Exception):
    """A Secret has no certificate that can be shown, and why."""


class IngressController:
    """Serves the Ingresses of a cluster at an address, from the first one on until `close`."""

    def __init__(self, address: str, certificates: Certificates, random: Random) -> None:
        self._address, self._certificates, self._random = address, certificates, random
        self._backends = Backends()
        self._listeners: Listeners | None = None
        self._rules: dict[Request, IngressRules] = {}
        self._known: set[Request] = set()
        self._secrets: dict[Request, set[Request]] = {}
        self._contexts: dict[bytes, ssl.SSLContext] = {}

    @property
    def is_serving(self) -> bool:
        """Whether anything listens."""
        return self._listeners is not None

    async def close(self) -> None:
        """End every connection, and listen no more."""
        if self._listeners is not None:
            await self._listeners.close()

    def manager(self) -> Manager:
        """The controllers that keep it in line with the objects of a cluster."""
        manager = Manager(NAME)
        (
            manager.keyed("ingress-backends")
            .watches(Service, to=lambda service: (service.key,))
            .watches(EndpointSlice, to=_service)
            .workers(1)
            .reconcile(self.reconcile_backends)
        )
        (
            manager.keyed(NAME)
            .watches(Ingress, to=lambda ingress: (ingress.key,))
            .watches(IngressClass, to=lambda _: tuple(self._known))
            .watches(Secret, to=lambda secret: tuple(self._secrets.get(secret.key, ())))
            .uses(ConfigMap, "get", "create", "patch")
            .uses(Ingress, "patch", sub="status")
            .workers(1)
            .reconcile(self.reconcile)
        )
        return manager

    async def reconcile_backends(self, request: Request, ctx: KeyContext) -> None:
        """Know what is behind one Service."""
        service = await ctx.client.find(Service, *request)
        slices = await ctx.client.list(
            EndpointSlice, request.namespace, labels={SERVICE_LABEL: request.name}
        )
        self._backends.put(request, service, slices)

    async def reconcile(self, request: Request, ctx: KeyContext) -> None:
        """Serve one Ingress, or do so no longer."""
        ingress = await ctx.client.find(Ingress, *request)
        if ingress is None:
            self._known.discard(request)
            self._forget(request)
            return
        self._known.add(request)
        classes = await ctx.client.list(IngressClass)
        if not is_ours(ingress, classes):
            self._forget(request)
            if self._listeners and ingress.status == self._status(self._listeners):
                await ctx.client.set_status(ingress, IngressStatus())
            return
        await self._serve(ingress, ctx)

    async def _serve(self, ingress: Ingress, ctx: KeyContext) -> None:
        self._rules[ingress.key] = ingress_rules(ingress)
        hosts = await self._hosts(ingress, ctx)
        self._certificates.put(ingress.key, hosts, self._by_age())
        used = self._certificates.contexts
        self._contexts = {key: each for key, each in self._contexts.items() if each in used}
        if self._listeners is None:
            self._listeners = await self._open(ctx)
        self._listeners.frontend.table = RouteTable(self._rules.values())
        await ctx.client.set_status(ingress, self._status(self._listeners))

    def _forget(self, request: Request) -> None:
        self._release_secrets(request)
        if self._rules.pop(request, None) is not None:
            self._certificates.forget(request, self._by_age())
            if self._listeners is not None:
                self._listeners.frontend.table = RouteTable(self._rules.values())

    def _release_secrets(self, request: Request) -> None:
        """Have no Secret wake an Ingress."""
        for ingresses in self._secrets.values():
            ingresses.discard(request)
        self._secrets = {key: each for key, each in self._secrets.items() if each}

    def _by_age(self) -> list[Request]:
        return [each.key for each in sorted(self._rules.values(), key=lambda each: each.age)]

    async def _open(self, ctx: KeyContext) -> Listeners:
        """Listen where an earlier run of the cluster did, and write down where that is."""
        # Loaded by clusters that have an Ingress.
        from quintant.cluster.kubeproxy.ingress.frontend import IngressFrontend
        from quintant.cluster.kubeproxy.ingress.listeners import Listeners

        found = await ctx.client.find(ConfigMap, TABLE.name, TABLE.namespace, live=True)
        before = {} if found is None else parse_table(found.data)
        listeners = Listeners(self._address, IngressFrontend(self._backends, self._random))
        try:
            await listeners.open(before, self._certificates.context)
            table = format_table({_OWNER: listeners.mapped})
            await ctx.client.apply(ConfigMap(metadata=TABLE, data=table))
        except BaseException:
            await listeners.close()
            raise
        return listeners

    def _status(self, listeners: Listeners) -> IngressStatus:
        """Where an Ingress is served."""
        ports = tuple(
            IngressPortStatus(port=real.port, protocol=TCP) for real in listeners.mapped.values()
        )
        ingress = IngressLoadBalancerIngress(ip=self._address, ports=ports)
        return IngressStatus(load_balancer=IngressLoadBalancerStatus(ingress=(ingress,)))

    async def _hosts(self, ingress: Ingress, ctx: KeyContext) -> Mapping[str, ssl.SSLContext]:
        """The certificates of an Ingress that can be shown, by host."""
        found: dict[str, ssl.SSLContext] = {}
        self._release_secrets(ingress.key)
        for tls in ingress.spec.tls:
            if not tls.secret_name:
                continue
            key = Request(tls.secret_name, ingress.metadata.namespace)
            self._secrets.setdefault(key, set()).add(ingress.key)
            try:
                context = self._context(await ctx.client.find(Secret, *key))
            except BrokenSecret as broken:
                note = f"Secret {key.name} has no certificate that can be shown: {broken}"
                ctx.event(ingress, "BrokenCertificate", note, type="Warning")
                continue
            found |= dict.fromkeys([host.lower() for host in tls.hosts] or [ANY_HOST], context)
        return found

    def _context(self, secret: Secret | None) -> ssl.SSLContext:
        """What shows the certificate of a Secret; the same as long as that is the same."""
        if secret is None:
            raise BrokenSecret("it is not there")
        try:
            certificate, key = (b64decode(secret.data[name]) for name in ("tls.crt", "tls.key"))
        except (KeyError, ValueError) as error:
            raise BrokenSecret(f"tls.crt or tls.key is missing or unreadable ({error})") from None
        digest = sha256(certificate + b"\0" + key).digest()
        if digest not in self._contexts:
            try:
                made = server_context(KeyPair(Sensitive(certificate), Sensitive(key)))
            except (ssl.SSLError, OSError, ValueError):
                raise BrokenSecret("certificate and key cannot be read as a pair") from None
            self._contexts[digest] = made
        return self._contexts[digest]


def is_ours(ingress: Ingress, classes: Iterable[IngressClass]) -> bool:
    """Whether an Ingress is for this controller, by its class or by the default one."""
    known = {each.metadata.name: each for each in classes}
    name = ingress.spec.ingress_class_name or ingress.metadata.annotations.get(LEGACY_CLASS)
    if name is None:
        defaults = [
            each for each in known.values()
            if each.metadata.annotations.get(DEFAULT_CLASS) == "true"
        ]  # fmt: skip
        # The newest, and of several the first by name, as the server's own admission chooses.
        defaults.sort(key=lambda each: each.metadata.name)
        defaults.sort(key=lambda each: each.metadata.creation_timestamp or "", reverse=True)
        return bool(defaults) and defaults[0].spec.controller == CONTROLLER
    found = known.get(name)
    return found is not None and found.spec.controller == CONTROLLER


def _service(slice: EndpointSlice) -> Iterable[Request]:
    name = slice.metadata.labels.get(SERVICE_LABEL)
    return (Request(name, slice.metadata.namespace),) if name else ()
