"""Which objects are held, under which name, and what happens to one that cannot be cleaned up."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from quintant import Context, Custom, Manager, Model, Opaque, Request, Result, resource, when
from quintant.api.events import Event
from quintant.api.meta import Condition
from quintant.core.errors import ConfigError
from quintant.core.object import replace
from quintant.core.schema.markers import list_map
from quintant.runtime.reconcile.finalizer import RELEASE
from quintant.testing import InProcessCluster, kind, named, settle, verb, writes

FINALIZER, OLD, OTHERS = "demo.dev/vault", "vault_deletion", "demo.dev/others"


class VaultSpec(Model):
    """What a vault should be."""

    size: int = 0


class VaultStatus(Model):
    users: int | None = None
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(group="demo.dev", version="v1", status=True)
class Vault(Custom[VaultSpec, VaultStatus]):
    """Something outside that is to be cleaned up."""


@resource(group="demo.dev", version="v1", kind="Vault", status=True)
class LooseVault(Custom[Opaque, VaultStatus]):
    """The same kind before its schema said what a spec is."""


class Outside:
    """What cleanup was called for."""

    def __init__(self, result: Result | None = None) -> None:
        self.cleaned: list[str] = []
        self.seen: list[tuple[str, ...]] = []
        self.result = result

    async def reconcile(self, vault: Vault, ctx: Context[Vault]) -> None:
        self.seen.append(vault.metadata.finalizers)

    async def clean(self, vault: Vault, ctx: Context[Vault]) -> Result | None:
        self.cleaned.append(f"{vault.metadata.name} of {vault.spec.size}")
        return self.result

    def manager(self, **options: Any) -> Manager:
        manager = Manager("vaults")
        builder = manager.controls(Vault, when=when.generation)
        builder.finalize(FINALIZER, self.clean, **options).reconcile(self.reconcile)
        return manager


def vault(size: int = 0, **meta: Any) -> Vault:
    return Vault(metadata=named("a", **meta), spec=VaultSpec(size=size))


def unfit(**meta: Any) -> LooseVault:
    return LooseVault(metadata=named("a", **meta), spec=Opaque.of({"size": "huge"}))


async def finalizers(cluster: InProcessCluster) -> tuple[str, ...]:
    return (await cluster.get(LooseVault, "a")).metadata.finalizers


async def annotate_release(cluster: InProcessCluster) -> None:
    now = await cluster.get(LooseVault, "a")
    meta = replace(now.metadata, annotations={RELEASE: "true"})
    await cluster.client.patch(replace(now, metadata=meta), since=now)


# Which objects are held.


async def test_an_object_that_need_not_be_held_has_no_finalizer_and_is_reconciled(
    cluster: InProcessCluster,
) -> None:
    outside = Outside()
    await cluster.run(outside.manager(when=lambda vault: vault.spec.size > 0))
    stored = await cluster.create(vault())
    await settle()
    assert outside.seen == [()]
    await cluster.client.delete(stored)
    await cluster.wait_deleted(Vault, "a", within=1)

    assert outside.cleaned == []
    assert not cluster.faults.seen(verb("patch"))


async def test_an_object_is_held_only_while_it_is_used_though_a_predicate_hides_its_status(
    cluster: InProcessCluster,
) -> None:
    outside = Outside()
    used = lambda vault: bool(vault.status and vault.status.users)  # noqa: E731
    await cluster.run(outside.manager(when=used))
    stored = await cluster.create(vault(finalizers=(OTHERS,)))
    await cluster.client.set_status(stored, VaultStatus(users=2))
    await settle()
    assert await finalizers(cluster) == (OTHERS, FINALIZER)

    await cluster.client.set_status(stored, VaultStatus(users=0))
    await settle()
    assert await finalizers(cluster) == (OTHERS,)
    assert outside.cleaned == []


async def test_once_an_object_is_going_cleanup_alone_decides(cluster: InProcessCluster) -> None:
    outside = Outside(Result(after=3600))
    used = lambda vault: bool(vault.status and vault.status.users)  # noqa: E731
    await cluster.run(outside.manager(when=used))
    stored = await cluster.create(vault())
    await cluster.client.set_status(stored, VaultStatus(users=2))
    await settle()
    await cluster.client.delete(stored)
    await settle()
    await cluster.client.set_status(stored, VaultStatus(users=0))
    await settle()
    assert await finalizers(cluster) == (FINALIZER,)

    outside.result = None
    await cluster.client.set_status(stored, VaultStatus(users=1))
    await cluster.wait_deleted(Vault, "a", within=1)


async def test_a_finalizer_is_not_taken_off_an_object_that_has_changed_meanwhile(
    cluster: InProcessCluster,
) -> None:
    outside = Outside()
    await cluster.run(outside.manager(when=lambda vault: vault.spec.size > 0))
    await cluster.create(vault(size=1))
    big = await cluster.eventually(Vault, "a", until=lambda obj: bool(obj.metadata.finalizers))
    with cluster.faults.lag(5, verb("watch")):
        small = await cluster.client.patch(replace(big, spec=VaultSpec(size=0)), since=big)
        await cluster.advance(1)
        await cluster.client.patch(replace(small, spec=VaultSpec(size=3)), since=small)
        await cluster.advance(4.5)
        # It looks small to the controller, and is not any more.
        assert await finalizers(cluster) == (FINALIZER,)
        assert cluster.faults.seen(verb("patch"))[-1].outcome == 422
        await cluster.advance(60)

    assert await finalizers(cluster) == (FINALIZER,)


# Old names.


async def test_an_old_name_on_a_living_object_is_replaced_in_one_write(
    cluster: InProcessCluster,
) -> None:
    outside = Outside()
    await cluster.run(outside.manager(also=[OLD]))
    await cluster.create(vault(finalizers=(OLD, OTHERS)))
    await settle()

    assert await finalizers(cluster) == (OTHERS, FINALIZER)
    assert outside.seen == [(OTHERS, FINALIZER)]
    assert len(cluster.faults.seen(verb("patch"))) == 1


async def test_an_object_that_has_an_old_name_only_is_cleaned_up_and_both_names_go_together(
    cluster: InProcessCluster,
) -> None:
    outside = Outside()
    held = await cluster.create(vault(size=3, finalizers=(OLD, OTHERS, FINALIZER)))
    old = Vault(metadata=named("b", finalizers=(OLD,)), spec=VaultSpec())
    for each in (held, await cluster.create(old)):
        await cluster.client.delete(each)
    await cluster.run(outside.manager(also=[OLD]))
    await cluster.wait_deleted(Vault, "b", within=1)

    assert await finalizers(cluster) == (OTHERS,)
    assert sorted(outside.cleaned) == ["a of 3", "b of 0"]


@pytest.mark.parametrize("also", ["vault_deletion", [FINALIZER], [""]])
def test_old_names_that_make_no_sense_are_refused(also: Any) -> None:
    with pytest.raises(ConfigError, match="cannot stand for"):
        Outside().manager(also=also)


# Objects that do not fit their type.


async def warnings(cluster: InProcessCluster) -> list[str]:
    events = await cluster.client.list(Event, "default")
    return [event.reason for event in events if event.type == "Warning"]


@pytest.mark.parametrize("fits_at_first", [False, True], ids=["never fitted", "fitted before"])
async def test_an_object_that_does_not_fit_is_held_and_told_and_cleaned_up_when_mended(
    cluster: InProcessCluster, fits_at_first: bool
) -> None:
    outside = Outside()
    if fits_at_first:
        engine = await cluster.run(outside.manager())
        await cluster.create(vault(size=1))
        await settle()
        await cluster.install(LooseVault)
        await cluster.client.apply(unfit())
    else:
        await cluster.create(unfit(finalizers=(FINALIZER,)))
        engine = await cluster.run(outside.manager())
    await cluster.client.delete(await cluster.get(LooseVault, "a"))
    await cluster.advance(600)

    blocked = {"controller": "vault"}
    obj = await cluster.get(LooseVault, "a")
    assert (outside.cleaned, obj.metadata.finalizers) == ([], (FINALIZER,))
    assert obj.status is not None
    (condition,) = obj.status.conditions
    assert (condition.type, condition.reason) == ("CleanupBlocked", "DoesNotFitItsType")
    assert "$.spec.size" in condition.message
    assert f"{RELEASE}=true" in condition.message
    assert await warnings(cluster) == ["DoesNotFitItsType", "CleanupBlocked"]
    assert engine.metrics.registry.value("quintant_blocked_cleanups", blocked) == 1

    await cluster.client.apply(replace(obj, spec=Opaque.of({"size": 7}), status=None))
    await cluster.wait_deleted(Vault, "a", within=1)
    assert outside.cleaned == ["a of 7"]
    assert engine.metrics.registry.value("quintant_blocked_cleanups", blocked) == 0


async def test_holding_an_object_that_does_not_fit_costs_no_writes(
    cluster: InProcessCluster,
) -> None:
    await cluster.create(unfit(finalizers=(FINALIZER,)))
    await cluster.client.delete(await cluster.get(LooseVault, "a"))
    await cluster.run(Outside().manager())
    await cluster.advance(1)
    before = len(cluster.faults.seen(writes))
    await cluster.advance(3600)

    assert len(cluster.faults.seen(writes)) == before


async def test_a_condition_that_could_not_be_written_is_written_later(
    cluster: InProcessCluster,
) -> None:
    await cluster.create(unfit(finalizers=(FINALIZER,)))
    await cluster.client.delete(await cluster.get(LooseVault, "a"))
    cluster.faults.refuse(verb("patch"), times=20)
    await cluster.run(Outside().manager())
    await cluster.advance(300)

    obj = await cluster.get(LooseVault, "a")
    assert obj.status is not None
    assert [each.type for each in obj.status.conditions] == ["CleanupBlocked"]
    assert await warnings(cluster) == ["DoesNotFitItsType", "CleanupBlocked"]


async def test_an_object_that_does_not_fit_and_that_others_hold_is_not_touched(
    cluster: InProcessCluster,
) -> None:
    await cluster.create(unfit(finalizers=(OTHERS,)))
    await cluster.client.delete(await cluster.get(LooseVault, "a"))
    await cluster.run(Outside().manager())
    await cluster.advance(60)

    assert await finalizers(cluster) == (OTHERS,)
    assert await warnings(cluster) == ["DoesNotFitItsType"]


async def test_an_object_that_does_not_fit_is_held_by_whoever_takes_its_range(
    cluster: InProcessCluster,
) -> None:
    def sharded() -> Manager:
        manager = Manager("vaults", shards=True)
        outside = Outside()
        manager.controls(Vault).finalize(FINALIZER, outside.clean).reconcile(outside.reconcile)
        return manager

    await cluster.create(unfit(finalizers=(FINALIZER,)))
    await cluster.client.delete(await cluster.get(LooseVault, "a"))
    await cluster.run(sharded())
    await cluster.advance(60)

    obj = await cluster.get(LooseVault, "a")
    assert obj.status is not None
    assert [each.type for each in obj.status.conditions] == ["CleanupBlocked"]


async def test_an_object_that_never_fitted_is_forgotten_when_it_is_gone(
    cluster: InProcessCluster,
) -> None:
    forgotten: list[Request] = []
    manager = Manager("vaults")
    manager.controls(Vault).on_deleted(forgotten.append).reconcile(Outside().reconcile)
    stored = await cluster.create(unfit())
    await cluster.run(manager)
    await cluster.client.delete(stored)
    await settle()

    assert forgotten == [Request("a", "default")]


# The way out.


async def test_the_way_out_says_what_stays_behind(cluster: InProcessCluster) -> None:
    async def stuck(*_: Any) -> Result:
        return Result(after=3600)

    manager = Manager("vaults")
    builder = manager.controls(Vault)
    builder.finalize(FINALIZER, stuck, leaves=lambda vault: f"{vault.spec.size} crates at the bank")
    builder.reconcile(Outside().reconcile)
    await cluster.run(manager)
    stored = await cluster.create(vault(size=3))
    await settle()
    await cluster.client.delete(stored)
    await annotate_release(cluster)
    await cluster.wait_deleted(Vault, "a", within=1)
    await settle()

    (event,) = await cluster.client.list(Event, "default")
    assert (event.type, event.reason) == ("Warning", "Released")
    assert event.note.endswith("left behind: 3 crates at the bank")


async def released_vault(cluster: InProcessCluster) -> None:
    async def stuck(*_: Any) -> Result:
        return Result(after=3600)

    manager = Manager("vaults")
    builder = manager.controls(Vault).finalize(FINALIZER, stuck, leaves=lambda _: "a crate")
    builder.reconcile(Outside().reconcile)
    await cluster.run(manager)
    stored = await cluster.create(vault())
    await settle()
    await cluster.client.delete(stored)
    await annotate_release(cluster)


async def test_nothing_is_let_go_before_the_server_has_the_event_of_what_stays(
    cluster: InProcessCluster,
) -> None:
    refusal = cluster.faults.refuse(kind(Event))
    await released_vault(cluster)
    await cluster.advance(1)
    assert await finalizers(cluster) == (FINALIZER,)

    refusal.lift()
    cluster.faults.lose(kind(Event), times=1)
    await cluster.wait_deleted(Vault, "a", within=60)
    (event,) = await cluster.client.list(Event, "default")  # though its first answer was lost
    assert event.reason == "Released"


async def test_a_server_that_never_takes_the_event_does_not_hold_an_object_for_ever(
    cluster: InProcessCluster,
) -> None:
    with cluster.faults.refuse(kind(Event)):
        await released_vault(cluster)
        await cluster.wait_deleted(Vault, "a", within=3600)


async def test_the_way_out_is_open_to_an_object_that_does_not_fit(
    cluster: InProcessCluster,
) -> None:
    outside = Outside()
    await cluster.create(unfit(finalizers=(FINALIZER, OTHERS)))
    await cluster.run(outside.manager(leaves=lambda vault: f"{vault.spec.size} crates"))
    await cluster.client.delete(await cluster.get(LooseVault, "a"))
    await settle()
    await annotate_release(cluster)
    await settle()

    assert await finalizers(cluster) == (OTHERS,)
    assert outside.cleaned == []
    notes = {e.reason: e.note for e in await cluster.client.list(Event, "default")}
    assert "left behind: whatever it stands for outside" in notes["Released"]
