"""The control plane around the API server: managers in its process, each as a user of its own.

A component has a user name of its own and a role that is generated from what its controllers
declare. It reaches the server without a socket, yet with a token, and is authenticated,
authorised and audited like anybody.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from secrets import token_urlsafe

from msgspec import Struct

from quintant.api.rbac import GROUP, ClusterRole, ClusterRoleBinding, RoleRef, Subject
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport, Transport
from quintant.cluster.apiserver.kubelet_client.meter import Meter
from quintant.cluster.apiserver.meta.user import User, admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import Clock, Random
from quintant.core.object import Object, ObjectMeta
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.permissions import Permissions, policy_rules
from quintant.runtime.manager.rbac import required_permissions


class Component(Struct, frozen=True):
    """A part of the control plane: what it runs, and whom the server takes it for."""

    manager: Manager
    groups: tuple[str, ...] = ()
    extra: Permissions = frozenset()
    """Permissions beyond what its controllers declare, such as those of its side tasks."""
    objects: tuple[Object, ...] = ()
    """What the cluster has to have before it starts."""
    meter: Meter | None = None
    """Who knows what the pods use that it runs; the server asks it for metrics.k8s.io."""

    @property
    def user(self) -> User:
        return User(f"system:{self.manager.name}", self.groups)

    @property
    def roles(self) -> tuple[Object, Object]:
        """The role that its declarations ask for, and the binding to it."""
        meta = ObjectMeta(name=self.user.name)
        granted = policy_rules(required_permissions(self.manager.declarations) | self.extra)
        subject = Subject(kind="User", api_group=GROUP, name=self.user.name)
        ref = RoleRef(api_group=GROUP, kind="ClusterRole", name=self.user.name)
        return (
            ClusterRole(metadata=meta, rules=granted),
            ClusterRoleBinding(metadata=meta, role_ref=ref, subjects=(subject,)),
        )


@asynccontextmanager
async def run_component(
    server: ApiServer,
    component: Component,
    clock: Clock,
    random: Random,
    through: Callable[[Transport], Transport] = lambda transport: transport,
) -> AsyncIterator[Engine]:
    """Run a component for as long as the context lasts; enter it once it is at work.

    `through` wraps its way to the server.
    """
    async with transport_as(server, admin("system:bootstrap")) as transport:
        client = Client(Rest(transport), manager="bootstrap")
        for obj in (*component.roles, *component.objects):
            await client.apply(obj)
    async with transport_as(server, component.user) as transport:
        environment = Environment(through(transport), clock, random, namespace="kube-system")
        async with component.manager.running(environment) as engine:
            with _metered(server, component):
                yield engine


@contextmanager
def _metered(server: ApiServer, component: Component) -> Iterator[None]:
    meters = server.metrics.meters
    if component.meter is None:
        yield
        return
    meters.append(component.meter)
    try:
        yield
    finally:
        meters.remove(component.meter)


@asynccontextmanager
async def transport_as(server: ApiServer, user: User) -> AsyncIterator[InProcessTransport]:
    """A way to the server as a user, until the context ends."""
    token = token_urlsafe()
    server.tokens.add(token, user)
    try:
        yield InProcessTransport(server, token)
    finally:
        server.tokens.revoke(token)
