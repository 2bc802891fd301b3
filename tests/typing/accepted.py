"""What a type checker knows about the public API without being told.

Checked by mypy, never run: `assert_type` fails the check when an inferred type differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, assert_type

from msgspec import Meta

from quintant import (
    DONE,
    Client,
    Conclusion,
    Context,
    Custom,
    KeyContext,
    KeyedState,
    Manager,
    Metadata,
    Model,
    Object,
    ObjectMeta,
    Reconciler,
    Request,
    Result,
    has_owner,
    owned,
    projection,
    replace,
    resource,
    with_labels,
)
from quintant.api.core import ConfigMap, Pod, ResourceRequirements, Secret
from quintant.api.meta import Condition, set_condition
from quintant.core.codec import decode
from quintant.core.schema.markers import default, list_map
from quintant.testing import FaultMode, RemoteModel, Scenario, ScenarioWorld

Port = Annotated[int, Meta(ge=1, le=65535)]


class Target(Model):
    name: str
    port: Port = 0


class GreeterSpec(Model):
    message: Annotated[str, Meta(min_length=1)]
    targets: Annotated[tuple[Target, ...], list_map("name")] = ()
    replicas: Annotated[int | None, default(1)] = None


class GreeterStatus(Model):
    greeted: bool | None = None
    conditions: tuple[Condition, ...] = ()


@resource(group="demo.dev", version="v1", status=True)
class Greeter(Custom[GreeterSpec, GreeterStatus]):
    """Keeps a ConfigMap with a greeting."""


class NarrowStatus(Model):
    phase: str = ""


@projection(Pod)
class NarrowPod(Object):
    status: NarrowStatus = NarrowStatus()


def models(greeter: Greeter) -> None:
    assert_type(greeter.spec, GreeterSpec)
    assert_type(greeter.spec.message, str)
    assert_type(greeter.spec.replicas, int | None)
    assert_type(greeter.spec.targets[0].port, int)
    assert_type(greeter.status, GreeterStatus | None)
    assert_type(greeter.metadata.labels, Mapping[str, str])
    assert_type(greeter.key, Request)
    assert_type(replace(greeter, spec=GreeterSpec(message="hi")), Greeter)
    assert_type(replace(greeter.spec, message="hi"), GreeterSpec)
    assert_type(decode(Greeter, b"{}"), Greeter)


def helpers(greeter: Greeter, child: ConfigMap, secret: Secret) -> None:
    assert_type(owned(child, by=greeter), ConfigMap)
    assert_type(with_labels(owned(child, by=greeter), app="web"), ConfigMap)
    assert_type(has_owner(child, greeter), bool)
    assert_type(secret.reveal("password"), bytes)


def views(pod: NarrowPod, meta: Metadata[Pod]) -> None:
    assert_type(pod.status.phase, str)
    assert_type(meta.metadata, ObjectMeta)


async def reads(client: Client) -> None:
    assert_type(await client.get(Greeter, "a", "default"), Greeter)
    assert_type(await client.find(Pod, "a", "default"), Pod | None)
    assert_type(await client.list(NarrowPod), Sequence[NarrowPod])
    assert_type(await client.get(Metadata[Pod], "a"), Metadata[Pod])
    async for change in client.watch(ConfigMap):
        assert_type(change.new, ConfigMap | None)


async def writes(client: Client, greeter: Greeter) -> None:
    assert_type(await client.create(greeter), Greeter)
    assert_type(await client.apply(ConfigMap(metadata=ObjectMeta.like(greeter))), ConfigMap)
    assert_type(await client.patch(greeter, since=greeter), Greeter)
    assert_type(await client.set_status(greeter, GreeterStatus(greeted=True)), Greeter)


async def reconcile(greeter: Greeter, ctx: Context[Greeter]) -> Result | None:
    assert_type(ctx.obj, Greeter)
    child = await ctx.apply(owned(ConfigMap(metadata=ObjectMeta.like(greeter)), by=greeter))
    assert_type(child, ConfigMap)
    assert_type(await ctx.owned(ConfigMap), Sequence[ConfigMap])
    before = greeter.status.conditions if greeter.status else ()
    conditions = set_condition(before, "Ready", status=True, reason="Greeted", now=ctx.clock.now())
    await ctx.set_status(GreeterStatus(greeted=True, conditions=conditions))
    return DONE


async def concludes(greeter: Greeter, ctx: Context[Greeter]) -> Result | None:
    changed = Conclusion[GreeterStatus](change=lambda now: now or GreeterStatus())
    assert_type(await ctx.conclude(changed), Result | None)
    return await ctx.conclude(Conclusion(status=GreeterStatus(greeted=True), again=Result(after=1)))


async def concludes_objects(request: Request, ctx: KeyContext) -> None:
    for greeter in await ctx.client.list(Greeter):
        await ctx.conclude(greeter, Conclusion(status=GreeterStatus(greeted=True)))


memories = KeyedState(list[str])
assert_type(memories[Request("a")], list[str])
assert_type(memories.get(Request("a")), list[str] | None)


async def silent(obj: Greeter, ctx: Context[Greeter], /) -> None:
    """A reconciler may return nothing, and name its parameters as it likes."""


async def general(obj: Object, ctx: Context[Object]) -> None:
    """A reconciler of any object will do for one kind."""


class Stateful:
    """A reconciler may be an object."""

    async def __call__(self, greeter: Greeter, ctx: Context[Greeter]) -> Result:
        return Result(after=60)


reconcilers: list[Reconciler[Greeter]] = [reconcile, silent, general, Stateful()]


def wiring(manager: Manager) -> None:
    builder = manager.controls(Greeter).owns(ConfigMap).index("m", lambda g: [g.spec.message])
    builder.watches(Pod, to=lambda pod: [Request(pod.spec.node_name)]).reconcile(reconcile)


class Cloud(RemoteModel):
    async def find(self, name: str) -> str:
        return name


def provisioner(cloud: Cloud) -> Manager:
    return Manager("provisioner")


class Provisioning(Scenario):
    modes = ("503", FaultMode.TIMEOUT)

    def remotes(self) -> dict[str, RemoteModel]:
        return {"cloud": Cloud()}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [provisioner(world.remotes["cloud"])]


class Crashing(Scenario):
    modes = frozenset(FaultMode) - {FaultMode.PARENT_DELETED}


RESOURCES = ResourceRequirements(requests={"cpu": "100m"}, limits={"memory": "1Gi"})


async def recorded(greeter: Greeter, ctx: Context[Greeter]) -> None:
    assert_type(await ctx.record(lambda status: GreeterStatus(greeted=True)), GreeterStatus)
