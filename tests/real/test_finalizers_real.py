"""Finalizers on a real kube-apiserver: its patches, and how it treats objects past their schema."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

import patience
from quintant import Client, Context, Custom, Manager, Model, Opaque, resource
from quintant.api.events import Event
from quintant.api.meta import Condition
from quintant.client.http.transport import HttpTransport
from quintant.core.object import ObjectMeta, replace
from quintant.core.schema.markers import list_map
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds

pytestmark = pytest.mark.realtime

FINALIZER, OLD, OTHERS = "demo.dev/cellar", "cellar_deletion", "demo.dev/others"


class CellarSpec(Model):
    size: int = 0


class CellarStatus(Model):
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(group="finalizers.demo.dev", version="v1", status=True)
class Cellar(Custom[CellarSpec, CellarStatus]):
    """Something outside that is to be cleaned up."""


@resource(group="finalizers.demo.dev", version="v1", kind="Cellar", status=True)
class LooseCellar(Custom[Opaque, CellarStatus]):
    """The same kind before its schema said what a spec is."""


def loose(name: str, size: Any, *finalizers: str) -> LooseCellar:
    meta = ObjectMeta(name=name, namespace="default", finalizers=finalizers)
    return LooseCellar(metadata=meta, spec=Opaque.of({"size": size}))


async def until(client: Client, name: str, condition: Any) -> LooseCellar | None:
    waiting = client.wait_for(
        LooseCellar, name, "default", until=condition, timeout=patience.seconds(20)
    )
    return await waiting


async def gone(client: Client, name: str) -> None:
    await until(client, name, lambda obj: obj is None)


async def test_unfit_objects_are_held_old_names_go_and_unused_objects_have_none(
    transport: HttpTransport, client: Client
) -> None:
    cleaned: list[str] = []

    async def reconcile(cellar: Cellar, ctx: Context[Cellar]) -> None: ...

    async def clean(cellar: Cellar, ctx: Context[Cellar]) -> None:
        cleaned.append(f"{cellar.metadata.name} of {cellar.spec.size}")

    manager = Manager("cellars")
    builder = manager.controls(Cellar)
    builder.finalize(FINALIZER, clean, when=lambda cellar: cellar.spec.size > 0, also=[OLD])
    builder.reconcile(reconcile)

    await install_crds(transport, [LooseCellar])
    unfit = await client.create(loose("unfit", "huge", FINALIZER))
    await install_crds(transport, [Cellar])
    async with manager.running(Environment(transport)):
        await client.delete(unfit)
        told = await until(client, "unfit", lambda obj: bool(obj and obj.status))
        assert told is not None
        assert told.status is not None
        assert told.status.conditions[0].reason == "DoesNotFitItsType"
        assert told.metadata.finalizers == (FINALIZER,)
        assert await warning_about(client, "unfit") in ("CleanupBlocked", "DoesNotFitItsType")

        old = await client.create(loose("old", 2, OLD, OTHERS))
        renamed = (OTHERS, FINALIZER)
        await until(client, "old", lambda obj: obj and obj.metadata.finalizers == renamed)
        both = await client.create(loose("both", 3, OTHERS, FINALIZER))
        await client.delete(both)
        await until(client, "both", lambda obj: obj and obj.metadata.finalizers == (OTHERS,))

        idle = await client.create(loose("idle", 0, FINALIZER))
        await until(client, "idle", lambda obj: obj and not obj.metadata.finalizers)
        await client.delete(idle)
        await gone(client, "idle")

        await client.patch(replace(told, spec=Opaque.of({"size": 7})), since=told)
        await gone(client, "unfit")
        await client.delete(old)
        await until(client, "old", lambda obj: obj and obj.metadata.finalizers == (OTHERS,))

    assert sorted(cleaned) == ["both of 3", "old of 2", "unfit of 7"]
    for name in ("old", "both"):
        held = await client.get(LooseCellar, name, "default")
        meta = replace(held.metadata, finalizers=())
        await client.patch(replace(held, metadata=meta), since=held)


async def warning_about(client: Client, name: str) -> str:
    """The reason of the first event about an object."""
    async with patience.within(20):
        async for change in client.watch(Event, "default"):
            if change.new is not None and change.new.regarding.name == name:
                return change.new.reason
    raise AssertionError("a watch goes on for ever")
