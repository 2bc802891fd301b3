"""What a manager would do to a cluster is seen, and nothing of it is done there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from msgspec.structs import replace

from quintant import Context, Manager, ObjectMeta, Result, owned
from quintant.api.core import ConfigMap, Secret
from quintant.client.config.credentials import Credential, StaticCredential, bearer_header
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.cluster.apiserver.meta.user import service_account
from quintant.core.errors import ConfigError
from quintant.keys.sensitive import Sensitive
from quintant.operators import manager_of as manager_of_operator
from quintant.preview.object_diffs import ObjectAction
from quintant.preview.role import preview_rbac
from quintant.preview.run import Preview, PreviewLimits, preview
from quintant.runtime.webhook import Admission, Denied
from quintant.testing import InProcessCluster, named
from scenarios.greeter import Greeter, GreeterStatus, greeter, greeter_manager

Reconcile = Callable[[Greeter, Context[Greeter]], Coroutine[Any, Any, None]]
SOON = PreviewLimits(seconds=20.0)


class Spy:
    """A Transport that notes what leaves."""

    def __init__(self, inner: Transport) -> None:
        self.inner, self.methods = inner, set[str]()

    async def request(self, call: ApiRequest) -> ApiResponse:
        self.methods.add(call.method)
        return await self.inner.request(call)

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        self.methods.add(call.method)
        return self.inner.stream(call)

    async def close(self) -> None:
        await self.inner.close()


def manager_of(reconcile: Reconcile) -> Manager:
    manager = Manager("greeter")
    manager.controls(Greeter).owns(ConfigMap).reconcile(reconcile)
    return manager


def child(obj: Greeter, text: str = "") -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta.like(obj), data={"text": text or obj.spec.message})


async def deletes_all_children(obj: Greeter, ctx: Context[Greeter]) -> None:
    await ctx.client.delete(child(obj))


async def shouts(obj: Greeter, ctx: Context[Greeter]) -> None:
    await ctx.apply(owned(child(obj, obj.spec.message.upper()), by=obj))
    await ctx.set_status(GreeterStatus(greeted=True))


async def previewed(
    cluster: InProcessCluster, manager: Manager, limits: PreviewLimits = SOON
) -> Preview:
    return await preview(manager, cluster.environment(), limits)


@pytest.fixture
async def settled(cluster: InProcessCluster) -> InProcessCluster:
    """A cluster on which the greeter has done its work, and has stopped."""
    engine = await cluster.run(greeter_manager())
    for name in ("a", "b"):
        await cluster.create(greeter(name))
        await cluster.eventually(ConfigMap, name)
    await cluster.advance(5)
    await cluster.stop(engine)
    return cluster


def changes(found: Preview) -> list[tuple[ObjectAction, str, str]]:
    return [(each.action, each.id.plural, each.id.name) for each in found.changes]


async def test_the_version_that_is_installed_changes_nothing(settled: InProcessCluster) -> None:
    found = await previewed(settled, greeter_manager())
    assert changes(found) == []
    assert found.findings == []


async def test_a_new_default_is_seen_on_every_object_and_nowhere_else(
    settled: InProcessCluster,
) -> None:
    found = await previewed(settled, manager_of(shouts))
    assert changes(found) == [
        (ObjectAction.UPDATE, "configmaps", "a"),
        (ObjectAction.UPDATE, "configmaps", "b"),
    ]
    assert found.changes[0].after is not None
    assert found.changes[0].after["data"] == {"text": "HI"}


async def test_nothing_is_written_to_the_cluster(settled: InProcessCluster) -> None:
    revision = settled.server.store.revision
    found = await previewed(settled, manager_of(shouts))
    assert found.writes >= 2
    assert settled.server.store.revision == revision


async def test_only_get_leaves_whatever_a_manager_does(settled: InProcessCluster) -> None:
    async def does_everything(obj: Greeter, ctx: Context[Greeter]) -> None:
        await shouts(obj, ctx)
        await ctx.client.delete(child(obj))
        await ctx.client.delete_all(ConfigMap, "default")
        ctx.event("Everything", "was done", type="Warning")

    environment = settled.environment()
    spy = Spy(environment.transport)
    found = await preview(manager_of(does_everything), replace(environment, transport=spy), SOON)
    assert spy.methods == {"GET"}
    assert {event.reason for event in found.events} == {"Everything"}


async def test_a_version_that_deletes_all_children_is_found(settled: InProcessCluster) -> None:
    found = await previewed(settled, manager_of(deletes_all_children))
    assert changes(found) == [
        (ObjectAction.DELETE, "configmaps", "a"),
        (ObjectAction.DELETE, "configmaps", "b"),
    ]
    assert "delete" in found.words


async def test_what_the_garbage_collector_would_take_is_a_deletion(
    settled: InProcessCluster,
) -> None:
    async def deletes_itself(obj: Greeter, ctx: Context[Greeter]) -> None:
        await ctx.client.delete(obj)

    found = await previewed(settled, manager_of(deletes_itself))
    assert {(each.action, each.id.plural) for each in found.changes} == {
        (ObjectAction.DELETE, "configmaps"),
        (ObjectAction.DELETE, "greeters"),
    }


async def test_what_is_gone_takes_along_what_was_never_written(settled: InProcessCluster) -> None:
    async def deletes_one(obj: Greeter, ctx: Context[Greeter]) -> None:
        if obj.metadata.name == "a":
            await ctx.client.delete(obj)

    found = await previewed(settled, manager_of(deletes_one))
    assert changes(found) == [
        (ObjectAction.DELETE, "configmaps", "a"),
        (ObjectAction.DELETE, "greeters", "a"),
    ]


async def test_values_of_secrets_are_never_shown(settled: InProcessCluster) -> None:
    async def keeps_secrets(obj: Greeter, ctx: Context[Greeter]) -> None:
        await ctx.apply(Secret(metadata=ObjectMeta.like(obj), data={"key": "aHVzaA=="}))

    manager = Manager("greeter")
    manager.controls(Greeter).owns(Secret).reconcile(keeps_secrets)
    await settled.create(Secret(metadata=ObjectMeta.like(greeter("a")), data={"key": "b2xk"}))
    found = await previewed(settled, manager)
    text = str(found.changes)
    assert "hidden" in text
    for value in ("aHVzaA==", "b2xk", "hush"):
        assert value not in text


async def test_a_manager_that_never_rests_is_stopped(settled: InProcessCluster) -> None:
    async def writes_without_end(obj: Greeter, ctx: Context[Greeter]) -> None:
        while True:
            await ctx.client.create(ConfigMap(metadata=named("", generate_name="more-")))

    found = await previewed(settled, manager_of(writes_without_end), PreviewLimits(writes=50))
    assert found.findings == ["it was stopped after 50 writes"]


async def test_a_manager_that_hangs_is_over_in_time(settled: InProcessCluster) -> None:
    async def hangs(obj: Greeter, ctx: Context[Greeter]) -> None:
        await asyncio.Event().wait()

    found = await previewed(settled, manager_of(hangs))
    assert found.findings == ["it was still at work after 20 s"]


async def test_failures_are_findings(settled: InProcessCluster) -> None:
    async def fails(obj: Greeter, ctx: Context[Greeter]) -> None:
        raise ValueError("not today")

    found = await previewed(settled, manager_of(fails))
    assert any("reconciles failed" in each for each in found.findings)


async def test_a_manager_with_webhooks_is_previewed_and_serves_none(
    settled: InProcessCluster,
) -> None:
    async def refuses(old: ConfigMap | None, new: ConfigMap | None, admission: Admission) -> Denied:
        return Denied("never")

    manager = manager_of(shouts)
    manager.webhooks.validating(ConfigMap, refuses)
    found = await previewed(settled, manager)
    assert [each.action for each in found.changes] == [ObjectAction.UPDATE] * 2
    assert found.refused == []


async def test_a_manager_that_comes_back_without_end_is_over_in_time(
    settled: InProcessCluster,
) -> None:
    async def again(obj: Greeter, ctx: Context[Greeter]) -> Result:
        return Result(after=0.01)

    manager = Manager("greeter")
    manager.controls(Greeter).reconcile(again)
    found = await previewed(settled, manager)
    assert changes(found) == []
    assert found.writes == 0


async def test_a_kind_that_is_not_installed_is_named(cluster: InProcessCluster) -> None:
    found = await previewed(cluster, greeter_manager())
    assert found.findings == ["greeters.demo.dev is not served by the cluster"]


async def test_what_may_not_be_read_ends_the_preview_with_a_reason(
    cluster: InProcessCluster,
) -> None:
    strict = InProcessCluster(rbac=True)
    with pytest.raises(ConfigError, match="configmaps"):
        await previewed(strict, greeter_manager())


async def test_beside_a_baseline_only_what_differs_is_shown(settled: InProcessCluster) -> None:
    await settled.create(greeter("new"))
    old = await previewed(settled, greeter_manager())
    new = await previewed(settled, manager_of(shouts))
    assert (ObjectAction.CREATE, "configmaps", "new") in changes(old)
    beside = new.beside(old)
    assert changes(beside) == [
        (ObjectAction.UPDATE, "configmaps", name) for name in ("a", "b", "new")
    ]
    assert changes(old.beside(old)) == changes(new.beside(new)) == []


@pytest.mark.parametrize("name", ["cosmos", "portal", "shifu"])
async def test_operators_at_rest_change_nothing(name: str, cluster: InProcessCluster) -> None:
    engine = await cluster.run(manager_of_operator(name))
    await cluster.advance(30)
    await cluster.stop(engine)
    found = await previewed(cluster, manager_of_operator(name))
    assert changes(found) == []
    assert found.findings == []


PREVIEW_USER = service_account("default", "greeter-preview")


async def with_preview_role(
    settled: InProcessCluster,
) -> tuple[InProcessCluster, StaticCredential]:
    """The same world under the generated role, and who has it."""
    strict = InProcessCluster(rbac=True, world=settled.snapshot())
    for obj in preview_rbac(greeter_manager(), "default"):
        await strict.client.apply(obj)
    strict.server.tokens.add(PREVIEW_USER.name, PREVIEW_USER)
    return strict, StaticCredential(Credential(bearer_header(Sensitive(PREVIEW_USER.name))))


async def test_the_generated_role_is_enough(settled: InProcessCluster) -> None:
    strict, credentials = await with_preview_role(settled)
    found = await preview(manager_of(shouts), strict.environment(credentials), SOON)
    assert len(found.changes) == 2
    assert found.findings == []
    verbs = {each.verb for each in strict.server.audit if each.user == PREVIEW_USER.name}
    assert verbs <= {"get", "list"}
