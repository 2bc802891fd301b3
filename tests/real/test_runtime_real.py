"""What a manager has beside controllers, on a real kube-apiserver.

Namespaces by label, kinds without a class, a daemon per object, fresh caches, a rate limiter of
one's own; and metrics that a TokenReview and a SubjectAccessReview guard.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import uuid4

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from envtest import RealCluster
from quintant import Client, Config, Context, Manager, ObjectMeta, Request, owned
from quintant.api.core import ConfigMap, Namespace, ServiceAccount
from quintant.api.rbac import (
    GROUP,
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    RoleRef,
    Subject,
)
from quintant.client.http.transport import HttpTransport
from quintant.core.dynamic import Unstructured, dynamic
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from scenarios.greeter import Greeter, GreeterSpec, reconcile
from security.test_metrics_access import certificate
from testbeds.ports import free_port

pytestmark = pytest.mark.realtime

PATIENCE_SECONDS = 60.0


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110 - the world is looked at
            await asyncio.sleep(0.05)


@pytest_asyncio.fixture
async def space(client: Client, transport: HttpTransport) -> str:
    """A namespace of this test's own, in a cluster that has Greeters."""
    await install_crds(transport, [Greeter])
    name = f"runtime-{uuid4().hex[:8]}"
    await client.create(Namespace(metadata=ObjectMeta(name=name)))
    return name


async def greet(client: Client, space: str, name: str = "a") -> None:
    meta = ObjectMeta(name=name, namespace=space)
    await client.create(Greeter(metadata=meta, spec=GreeterSpec(message="hi")))


async def greeted(client: Client, space: str, name: str = "a") -> None:
    """Wait for the greeting."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await client.find(ConfigMap, name, space) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def label(client: Client, space: str, value: str | None) -> None:
    body = msgspec.json.encode({"metadata": {"labels": {"team": value}}})
    headers = {"content-type": "application/merge-patch+json"}
    await client.raw("PATCH", f"/api/v1/namespaces/{space}", body=body, headers=headers)


async def test_a_namespace_is_followed_once_it_has_the_label_and_left_when_it_has_not(
    client: Client, transport: HttpTransport, space: str
) -> None:
    manager = Manager("teams")
    manager.namespaces(selector=f"team={space}")
    manager.controls(Greeter).owns(ConfigMap).reconcile(reconcile)
    async with manager.running(Environment(transport)) as engine:
        await greet(client, space)
        await label(client, space, space)
        await greeted(client, space)
        await label(client, space, None)

        def left() -> bool:
            return not any(each.store.list_keys() for each in engine.caches if each.kind is Greeter)

        await until(left)
    assert await client.find(ConfigMap, "a", space) is not None, "what is left is not deleted"


async def test_kinds_without_a_class_are_controlled_and_owned(
    client: Client, transport: HttpTransport, space: str
) -> None:
    greeters = await client.dynamic("demo.dev/v1", "Greeter")
    maps = dynamic("v1", "ConfigMap")

    async def copy(obj: Unstructured, ctx: Context[Unstructured]) -> None:
        meta = {"name": obj.metadata.name, "namespace": obj.metadata.namespace}
        child = maps.of({"metadata": meta, "data": {"text": obj.at("spec", "message")}})
        await ctx.apply(owned(child, by=obj))

    manager = Manager("copies", namespaces=[space])
    manager.controls(greeters).owns(maps).reconcile(copy)
    async with manager.running(Environment(transport)):
        await greet(client, space)
        await greeted(client, space)
    assert (await client.get(ConfigMap, "a", space)).data == {"text": "hi"}


async def test_a_daemon_runs_per_object_and_ends_with_it(
    client: Client, transport: HttpTransport, space: str
) -> None:
    held: set[str] = set()

    async def hold(obj: Greeter, ctx: Context[Greeter]) -> None:
        held.add(ctx.request.name)
        try:
            await asyncio.Event().wait()
        finally:
            held.remove(ctx.request.name)

    manager = Manager("lines", namespaces=[space])
    manager.controls(Greeter).daemon(hold).owns(ConfigMap).reconcile(reconcile)
    async with manager.running(Environment(transport)):
        for name in ("a", "b"):
            await greet(client, space, name)
        await until(lambda: held == {"a", "b"})
        await client.delete(await client.get(Greeter, "a", space))
        await until(lambda: held == {"b"})
    assert held == set()


class OwnLimiter:
    """Counts failures, and has them wait for a moment."""

    def __init__(self) -> None:
        self.failed = 0

    def when(self, key: Request) -> float:
        self.failed += 1
        return 0.1

    def forget(self, key: Request) -> None: ...


async def test_fresh_caches_and_a_rate_limiter_of_ones_own_let_it_work(
    client: Client, transport: HttpTransport, space: str
) -> None:
    limiter, refused = OwnLimiter(), iter((True, True))

    async def late(obj: Greeter, ctx: Context[Greeter]) -> None:
        if next(refused, False):
            raise ValueError("not yet")
        await ctx.fresh(within=90)
        await reconcile(obj, ctx)

    manager = Manager("fresh", namespaces=[space], staleness=2)
    builder = manager.controls(Greeter).owns(ConfigMap).rate_limiter(lambda: limiter)
    builder.priority(lambda request, obj, priority: 5).reconcile(late)
    async with manager.running(Environment(transport)) as engine:
        await greet(client, space)
        await greeted(client, space)
        (controller,) = engine.controllers
        await until(lambda: set(controller.views.kinds) == {"greeters.demo.dev", "configmaps"})
        assert max(controller.views.kinds.values()) < PATIENCE_SECONDS
    assert limiter.failed == 2


async def token(client: Client, space: str, name: str) -> str:
    """A token of a service account, as kubelet would mount it."""
    await client.create(ServiceAccount(metadata=ObjectMeta(name=name, namespace=space)))
    path = f"/api/v1/namespaces/{space}/serviceaccounts/{name}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    raw = await client.raw("POST", path, body=msgspec.json.encode(body))
    found: str = msgspec.json.decode(raw)["status"]["token"]
    return found


async def allow(client: Client, space: str, name: str) -> None:
    """Let a service account read metrics, and no page of /debug."""
    meta = ObjectMeta(name=f"{space}-metrics")
    rule = PolicyRule(verbs=("get",), non_resource_urls=("/metrics",))
    await client.create(ClusterRole(metadata=meta, rules=(rule,)))
    subject = Subject(kind="ServiceAccount", name=name, namespace=space)
    ref = RoleRef(api_group=GROUP, kind="ClusterRole", name=meta.name)
    await client.create(ClusterRoleBinding(metadata=meta, role_ref=ref, subjects=(subject,)))


async def status(address: str, path: str, trust: ssl.SSLContext, bearer: str) -> int:
    """What a request is answered with."""
    headers = {"authorization": f"Bearer {bearer}"} if bearer else {}
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"https://{address}{path}", headers=headers, ssl=trust) as reply,
    ):
        return reply.status


@pytest_asyncio.fixture
async def guarded(
    real_cluster: RealCluster, space: str, tmp_path: Path
) -> AsyncIterator[tuple[str, ssl.SSLContext]]:
    """Where a manager serves its metrics to who may read them, and what to trust there."""
    port, issued = free_port(), certificate(tmp_path)
    manager = Manager(
        "guarded", namespaces=[space], metrics=f"127.0.0.1:{port}",
        probes=f"127.0.0.1:{free_port()}",
        metrics_auth=True, metrics_certificates=str(tmp_path), debug=True,
    )  # fmt: skip
    manager.controls(Greeter).reconcile(reconcile)
    transport = HttpTransport(Config.load(real_cluster.kubeconfig))
    try:
        async with manager.running(Environment(transport, listen=True)):
            yield f"localhost:{port}", ssl.create_default_context(cadata=issued.authority.decode())
    finally:
        await transport.close()


async def test_metrics_and_debug_are_served_to_who_may_get_them(
    client: Client, space: str, guarded: tuple[str, ssl.SSLContext]
) -> None:
    address, trust = guarded
    reader, stranger = [await token(client, space, each) for each in ("reader", "stranger")]
    await allow(client, space, "reader")
    assert await status(address, "/metrics", trust, "") == 401
    assert await status(address, "/metrics", trust, "nobody") == 401
    assert await status(address, "/metrics", trust, stranger) == 403
    assert await status(address, "/debug/tasks", trust, reader) == 403
    async with asyncio.timeout(PATIENCE_SECONDS):
        # The server's authorizer hears of a new binding in its own time, and verdicts are kept.
        while await status(address, "/metrics", trust, reader) != 200:  # noqa: ASYNC110
            await asyncio.sleep(1)
