"""What is held is cleaned up, once and whatever happens, and what is not held is not.

Objects come and go under an old name of the finalizer, are used and unused, and do not fit their
type for a while; outside, nothing is left and nothing is taken away too early.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from quintant import Context, Custom, Manager, Model, Opaque, replace, resource
from quintant.api.meta import Condition
from quintant.core.schema.markers import list_map
from quintant.testing import (
    FaultMode,
    InProcessCluster,
    RemoteModel,
    Scenario,
    ScenarioWorld,
    effect,
    explore_scenario,
    named,
)

FINALIZER, OLD = "explored.dev/vault", "vault_deletion"


class VaultSpec(Model):
    crates: int = 0


class VaultStatus(Model):
    ready: bool | None = None
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(group="explored.dev", version="v1", status=True)
class Vault(Custom[VaultSpec, VaultStatus]):
    """Crates in a bank; without crates there is nothing in it."""


@resource(group="explored.dev", version="v1", kind="Vault", status=True)
class LooseVault(Custom[Opaque, VaultStatus]):
    """The same kind before its schema said what a spec is."""


class Bank(RemoteModel):
    """Keeps crates, by the name of their vault."""

    @effect
    async def keep(self, name: str) -> None:
        if ("crates", name) not in self.ledger:
            self.ledger.add("crates", name)

    @effect
    async def empty(self, name: str) -> None:
        self.ledger.remove("crates", name)


def vaults(bank: Bank) -> Manager:
    async def reconcile(vault: Vault, ctx: Context[Vault]) -> None:
        # A cache may be behind: nothing is made outside for what is gone, or is not held.
        live = await ctx.client.find(LooseVault, *ctx.request, live=True)
        if live is None or live.deleting or live.metadata.uid != vault.metadata.uid:
            return
        if vault.spec.crates and FINALIZER in live.metadata.finalizers:
            await bank.keep(vault.metadata.name)
        await ctx.set_status(VaultStatus(ready=True))

    async def clean(vault: Vault, ctx: Context[Vault]) -> None:
        await bank.empty(vault.metadata.name)

    manager = Manager("vaults")
    builder = manager.controls(Vault)
    builder.finalize(FINALIZER, clean, when=lambda vault: vault.spec.crates > 0, also=[OLD])
    builder.reconcile(reconcile)
    return manager


def vault(name: str, crates: Any, *finalizers: str) -> LooseVault:
    meta = named(name, finalizers=finalizers)
    return LooseVault(metadata=meta, spec=Opaque.of({"crates": crates}))


def holding(crates: Any) -> Any:
    return lambda it: replace(it, spec=Opaque.of({"crates": crates}))


class _Vaults(Scenario):
    """A bank, and a definition that lets anything into a spec."""

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"bank": Bank()}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        bank = world.remotes["bank"]
        assert isinstance(bank, Bank)
        return [vaults(bank)]

    async def prepare(self, cluster: InProcessCluster) -> None:
        await cluster.install(Vault)
        await cluster.install(LooseVault)

    def always(self, world: ScenarioWorld) -> None:
        """Nothing is outside of which no object knows, and that object is held."""
        for sort, name in world.remotes["bank"].ledger.live:
            held = world.one(LooseVault, name)
            assert held is not None, f"{sort} {name} is forgotten"
            assert {FINALIZER, OLD} & {*held.metadata.finalizers}, f"{name} is not held"

    def settled(self, world: ScenarioWorld) -> None:
        assert not world.all(LooseVault)
        assert not world.remotes["bank"].ledger.live


class VaultLife(_Vaults):
    """Held, not held, held under an old name; deleted, all of them."""

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(vault("full", 3))
        await world.create(vault("idle", 0))
        await world.create(vault("old", 1, OLD))
        await world.quiet()
        await world.edit(LooseVault, "idle", holding(2))
        await world.quiet()
        for name in ("full", "idle", "old"):
            await world.delete(LooseVault, name)
        await world.quiet()


class VaultUnfit(_Vaults):
    """One that does not fit any more is deleted, and mended."""

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(vault("full", 3))
        await world.quiet()
        await world.edit(LooseVault, "full", holding("many"))
        await world.quiet()
        await world.delete(LooseVault, "full")
        await world.quiet()
        assert world.one(LooseVault, "full"), "it went without cleanup"
        await world.edit(LooseVault, "full", holding(4))
        await world.quiet()


class VaultDeletedAtOnce(_Vaults):
    """Deleted before anybody had a look at it, and made again under its name."""

    # What this script does itself, and it does not expect anybody to be faster.
    modes = frozenset(FaultMode) - {FaultMode.PARENT_DELETED}

    async def script(self, world: ScenarioWorld) -> None:
        for _ in range(2):
            await world.create(vault("full", 3))
            await world.advance(0.01)
            await world.delete(LooseVault, "full")
            await world.quiet()


def test_vaults_are_held_and_emptied_whatever_happens() -> None:
    explore_scenario(VaultLife).check()


def test_a_vault_that_does_not_fit_is_held_until_it_is_mended_whatever_happens() -> None:
    explore_scenario(VaultUnfit).check()


def test_a_vault_that_dies_young_leaves_nothing() -> None:
    explore_scenario(VaultDeletedAtOnce).check()
