"""With a dry run, the cluster has its say about every write, and nothing is written there."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from quintant import Context, Manager
from quintant.api.core import ConfigMap, Container, Pod, PodSpec
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.preview.object_diffs import ObjectAction
from quintant.preview.run import Preview, PreviewLimits, preview
from quintant.testing import InProcessCluster, named
from scenarios.greeter import Greeter, GreeterStatus, greeter, greeter_manager
from unit.preview.test_run import changes, child, manager_of, shouts, with_preview_role

DRY = PreviewLimits(seconds=20.0, server_dry_run=True)
WRITING = {"POST", "PUT", "PATCH", "DELETE"}


class Witness:
    """A Transport that keeps every write that leaves, and may answer one by itself."""

    def __init__(self, inner: Transport, status: int = 0, message: str = "") -> None:
        self.inner, self.status, self.message = inner, status, message
        self.writes: list[ApiRequest] = []

    async def request(self, call: ApiRequest) -> ApiResponse:
        if call.method not in WRITING:
            return await self.inner.request(call)
        self.writes.append(call)
        if self.status:
            return ApiResponse(self.status, msgspec.json.encode({"message": self.message}))
        return await self.inner.request(call)

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self.inner.stream(call)

    async def close(self) -> None:
        await self.inner.close()


async def dry_run(
    cluster: InProcessCluster, manager: Manager, *answer: Any
) -> tuple[Preview, Witness]:
    """A preview that asks, and all that it sent."""
    environment = cluster.environment()
    witness = Witness(environment.transport, *answer)
    found = await preview(manager, replace(environment, transport=witness), DRY)
    return found, witness


async def put(ctx: Context[Greeter], metadata: dict[str, str], data: dict[str, str]) -> None:
    """Replace a ConfigMap whole, as other clients do."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    path = f"/api/v1/namespaces/default/configmaps/{metadata['name']}"
    headers = {"content-type": "application/json"}
    await ctx.client.raw("PUT", path, body=msgspec.json.encode(body), headers=headers)


async def does_everything(obj: Greeter, ctx: Context[Greeter]) -> None:
    """Every verb, subresources among them."""
    await shouts(obj, ctx)
    if await ctx.client.find(ConfigMap, "kept", "default") is not None:
        await put(ctx, {"name": "kept"}, {"a": "c"})
    await ctx.client.create(ConfigMap(metadata=named("more"), data={"a": "b"}))
    await ctx.client.delete(child(obj))
    await ctx.client.delete_all(ConfigMap, "default")
    await ctx.set_status(GreeterStatus(greeted=False))
    ctx.event("Everything", "was done", type="Warning")


@pytest.fixture
async def settled(cluster: InProcessCluster) -> InProcessCluster:
    """A cluster on which the greeter has done its work, and has stopped."""
    engine = await cluster.run(greeter_manager())
    await cluster.create(greeter("a"))
    await cluster.eventually(ConfigMap, "a")
    await cluster.advance(5)
    await cluster.stop(engine)
    return cluster


async def test_every_write_that_leaves_is_a_dry_run(settled: InProcessCluster) -> None:
    revision = settled.server.store.revision
    found, witness = await dry_run(settled, manager_of(does_everything))
    assert witness.writes
    assert all(call.query["dryRun"] == "All" for call in witness.writes)
    bodies = [msgspec.json.decode(call.body or b"") for call in witness.writes]
    sent = zip(witness.writes, bodies, strict=True)
    deletions = [body for call, body in sent if call.method == "DELETE"]
    assert deletions
    assert all(body["dryRun"] == ["All"] for body in deletions)
    assert settled.server.store.revision == revision
    assert found.writes >= len(witness.writes)


async def test_what_the_cluster_allows_is_shown_as_without_one(settled: InProcessCluster) -> None:
    found, witness = await dry_run(settled, manager_of(shouts))
    assert changes(found) == [(ObjectAction.UPDATE, "configmaps", "a")]
    assert found.findings == []
    assert witness.writes


async def test_a_write_that_is_forbidden_is_a_finding_and_does_not_happen(
    settled: InProcessCluster,
) -> None:
    strict, credentials = await with_preview_role(settled)
    found = await preview(manager_of(shouts), strict.environment(credentials), DRY)
    assert changes(found) == []
    assert any("refuses it" in each and "configmaps" in each for each in found.findings)
    assert found.refused
    assert "finding" in found.words


async def test_what_admission_refuses_is_told_in_its_words(settled: InProcessCluster) -> None:
    found, _ = await dry_run(settled, manager_of(shouts), 422, "no shouting here")
    assert changes(found) == []
    assert {each.message for each in found.refused} == {"no shouting here"}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, 'admission webhook "a.b" does not support dry run'),
        (500, "failed calling webhook"),
        (409, "the object has been modified"),
        (404, "the server could not find the requested resource"),
    ],
)
async def test_what_the_cluster_could_not_say_is_listed_and_the_copy_decides(
    settled: InProcessCluster, status: int, message: str
) -> None:
    found, _ = await dry_run(settled, manager_of(shouts), status, message)
    assert changes(found) == [(ObjectAction.UPDATE, "configmaps", "a")]
    assert any(message in each for each in found.findings)


async def test_what_is_built_on_a_write_of_the_preview_is_listed(settled: InProcessCluster) -> None:
    async def creates_and_updates(obj: Greeter, ctx: Context[Greeter]) -> None:
        if await ctx.client.find(ConfigMap, "more", "default") is None:
            await ctx.client.create(ConfigMap(metadata=named("more"), data={"a": "b"}))
            await put(ctx, {"name": "more"}, {"a": "c"})

    found, witness = await dry_run(settled, manager_of(creates_and_updates))
    assert [call.method for call in witness.writes] == ["POST"]
    assert found.findings == [
        "update configmaps default/more: the cluster was not asked, "
        "the operator made or deleted that before"
    ]


async def test_a_version_that_is_named_is_that_of_the_live_object(
    settled: InProcessCluster,
) -> None:
    async def updates(obj: Greeter, ctx: Context[Greeter]) -> None:
        live = await ctx.client.get(ConfigMap, "a", obj.metadata.namespace)
        if live.data["text"] != "other":
            version = {"name": "a", "resourceVersion": live.metadata.resource_version}
            await put(ctx, version, {"text": "other"})

    held = await settled.client.get(ConfigMap, "a", "default")
    found, witness = await dry_run(settled, manager_of(updates))
    sent = [msgspec.json.decode(call.body or b"") for call in witness.writes]
    assert [each["metadata"]["resourceVersion"] for each in sent] == [
        held.metadata.resource_version
    ]
    assert found.findings == []


async def test_what_acts_whatever_is_asked_of_it_is_never_sent(settled: InProcessCluster) -> None:
    spec = PodSpec(containers=(Container(name="a", image="b"),))
    await settled.create(Pod(metadata=named("p"), spec=spec))

    async def calls_a_pod(obj: Greeter, ctx: Context[Greeter]) -> None:
        await ctx.client.raw("POST", "/api/v1/namespaces/default/pods/p/proxy/act", body=b"{}")

    found, witness = await dry_run(settled, manager_of(calls_a_pod))
    assert witness.writes == []
    assert found.findings[0] == (
        "create pods default/p: the cluster was not asked, proxy has no dry run"
    )
