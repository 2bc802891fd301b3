"""On a real kube-apiserver: a program works under roles for its namespaces and its names alone.

The roles are the generated ones, the server's own RBAC decides, and the manager is a whole one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from msgspec import structs

import patience
from envtest import RealCluster
from quintant import Client, Config, Context, KeyContext, Manager, Request
from quintant.api.core import ConfigMap, Namespace, Secret
from quintant.api.events import Event
from quintant.api.rbac import ClusterRole
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.errors import Forbidden, NotFound
from quintant.core.object import ObjectMeta
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.rbac import manager_rbac

pytestmark = pytest.mark.realtime

NAME = "roles-under-test"
ASKED, KEPT, SAFE = (f"{NAME}-{word}" for word in ("asked", "kept", "safe"))
LABELS = {"roles": "asked"}


def note(name: str, namespace: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace), data=data)


def divided(*, on: bool) -> Manager:
    """Copies notes from one namespace to a second, with a word that a third one keeps."""
    manager = Manager(NAME)

    async def copy(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
        word = await ctx.client.get(Secret, "word", SAFE, live=True)
        text = obj.data["text"] + word.reveal("word").decode()
        await ctx.client.apply(note(obj.metadata.name, KEPT, text=text))
        ctx.event("Copied", "to the other namespace")

    async def count(request: Request, ctx: KeyContext) -> None:
        kept = await ctx.client.list(ConfigMap, KEPT)
        await ctx.client.apply(note("total", SAFE, notes=str(len(kept))))

    (
        manager.controls(ConfigMap, name=NAME, labels=LABELS, namespaces=[ASKED])
        .uses(ConfigMap, "create", "patch", namespaces=[KEPT])
        .uses(Secret, "get", namespaces=[SAFE], names=["word"])
        .reconcile(copy)
    )
    (
        manager.part("count", on=on)
        .keyed("count")
        .watches(ConfigMap, to=lambda _: [Request("total")], namespaces=[KEPT])
        .watches(ConfigMap, to=lambda _: [], namespaces=[SAFE], fields={"metadata.name": "total"})
        .uses(ConfigMap, "create", "patch", namespaces=[SAFE], names=["total"])
        .reconcile(count)
    )
    return manager


@pytest_asyncio.fixture
async def account(real_cluster: RealCluster, client: Client) -> AsyncIterator[HttpTransport]:
    """The way of the manager's service account, which has the roles of the whole manager."""
    for name in (ASKED, KEPT, SAFE):
        await client.apply(Namespace(metadata=ObjectMeta(name=name)))
    manager = divided(on=True)
    for obj in manager_rbac(manager.settings, manager.declarations, "default"):
        await client.apply(obj)
    secret = Secret(metadata=ObjectMeta(name="word", namespace=SAFE), data={"word": "IQ=="})
    await client.apply(secret)
    config = Config.load(real_cluster.kubeconfig)
    user = Impersonate(user=f"system:serviceaccount:default:{NAME}")
    transport = HttpTransport(
        structs.replace(config, user=structs.replace(config.user, impersonate=user))
    )
    yield transport
    await transport.close()


async def test_generated_roles_suffice_in_three_namespaces(
    account: HttpTransport, client: Client
) -> None:
    def copied(found: ConfigMap | None) -> bool:
        return found is not None and found.data == {"text": "hello!"}

    def counted(found: ConfigMap | None) -> bool:
        return found is not None and found.data == {"notes": "1"}

    async with patience.within(60), divided(on=True).running(Environment(account)):
        meta = ObjectMeta(name="a", namespace=ASKED, labels=LABELS)
        await client.apply(ConfigMap(metadata=meta, data={"text": "hello"}))
        limit = patience.seconds(60)
        await client.wait_for(ConfigMap, "a", KEPT, until=copied, timeout=limit)
        await client.wait_for(ConfigMap, "total", SAFE, until=counted, timeout=limit)
    assert {event.reason for event in await client.list(Event, ASKED)} == {"Copied"}


async def test_what_is_not_named_is_out_of_reach(account: HttpTransport, client: Client) -> None:
    theirs = Client(Rest(account), manager=NAME)
    await client.apply(Secret(metadata=ObjectMeta(name="other", namespace=SAFE)))

    with pytest.raises(NotFound):
        await client.get(ClusterRole, NAME)
    for attempt in (
        theirs.get(Secret, "other", SAFE),
        theirs.list(Secret, SAFE),
        theirs.list(ConfigMap, SAFE),
        theirs.list(ConfigMap),
        theirs.apply(note("other", SAFE)),
        theirs.create(note("total", SAFE)),
        theirs.apply(note("b", ASKED + "-not")),
    ):
        with pytest.raises(Forbidden):
            await attempt
