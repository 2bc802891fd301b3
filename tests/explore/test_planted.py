"""Three mistakes in an operator with webhooks, a conversion and a remote, and each is found.

The operator keeps a machine for every Host. `Right` does it right; each other one differs in a few
lines, and in nothing that an undisturbed run shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from quintant import Context, Custom, Manager, Model, replace, resource
from quintant.runtime.webhook import Admission, Spoke, Verdict
from quintant.testing import RemoteModel, Scenario, ScenarioWorld, effect, explore_scenario, named


class HostSpec(Model):
    size: int


class OldHostSpec(Model):
    cores: int


class HostStatus(Model):
    machine: str = ""
    size: int = 0


@resource(group="planted.dev", version="v2", status=True)
class Host(Custom[HostSpec, HostStatus]):
    """A machine somewhere."""


@resource(group="planted.dev", version="v1", kind="Host", status=True, storage=False)
class OldHost(Custom[OldHostSpec, HostStatus]):
    """The same, as it was called before."""


def up(obj: dict[str, Any]) -> dict[str, Any]:
    return {**obj, "spec": {"size": obj["spec"].get("cores", 1)}}


def down(obj: dict[str, Any]) -> dict[str, Any]:
    return {**obj, "spec": {"cores": obj["spec"].get("size", 1)}}


async def check(old: Host | None, new: Host | None, admission: Admission) -> Verdict:
    return None


class Cloud(RemoteModel):
    """Makes machines under names of its callers, once each."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}

    @effect
    async def create(self, name: str) -> None:
        if ("machine", name) not in self.ledger:
            self.ledger.add("machine", name)

    @effect
    async def resize(self, name: str, size: int) -> None:
        self.sizes[name] = size

    @effect
    async def delete(self, name: str) -> None:
        self.sizes.pop(name, None)
        if ("machine", name) in self.ledger:
            self.ledger.remove("machine", name)

    def state(self) -> Any:
        return {**super().state(), "sizes": dict(self.sizes)}


def machine_of(host: Host) -> str:
    return f"m-{host.metadata.name}"


class Operator:
    """What a process keeps, and does."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud

    async def reconcile(self, host: Host, ctx: Context[Host]) -> None:
        name, size = machine_of(host), host.spec.size
        known = await ctx.record(lambda status: replace(status or HostStatus(), machine=name))
        await self.cloud.create(name)
        await self.resize(name, size, known)
        await ctx.record(lambda status: HostStatus(machine=name, size=size))

    async def resize(self, name: str, size: int, known: HostStatus) -> None:
        await self.cloud.resize(name, size)

    async def clean(self, host: Host, ctx: Context[Host]) -> None:
        if host.status is not None and host.status.machine:
            await self.cloud.delete(host.status.machine)


class FlagInMemory(Operator):
    """Remembers in the process what it has done."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self._begun: set[str] = set()

    async def resize(self, name: str, size: int, known: HostStatus) -> None:
        if f"{name} {size}" in self._begun:
            return
        self._begun.add(f"{name} {size}")
        await self.cloud.resize(name, size)


class RecordAfterCall(Operator):
    """Writes down the machine when it is there."""

    async def reconcile(self, host: Host, ctx: Context[Host]) -> None:
        name, size = machine_of(host), host.spec.size
        await self.cloud.create(name)
        await self.cloud.resize(name, size)
        await ctx.set_status(HostStatus(machine=name, size=size))


class SwallowedError(Operator):
    """Takes what the remote refuses for done; the pass that its status causes does it again."""

    async def resize(self, name: str, size: int, known: HostStatus) -> None:
        try:
            await self.cloud.resize(name, size)
        except OSError:
            return


class HostLife(Scenario):
    """A host that is made, grows, and goes."""

    operator: type[Operator] = Operator

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"cloud": Cloud()}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        cloud = world.remotes["cloud"]
        assert isinstance(cloud, Cloud)
        operator, manager = self.operator(cloud), Manager("hosts")
        builder = manager.controls(Host).finalize("planted.dev/machine", operator.clean)
        builder.reconcile(operator.reconcile)
        manager.webhooks.validating(Host, check)
        manager.webhooks.converting(Host, {"v1": Spoke(up, down, OldHost)})
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Host(metadata=named("a"), spec=HostSpec(size=1)))
        await world.quiet()
        await world.edit(Host, "a", lambda it: replace(it, spec=HostSpec(size=2)))
        await world.quiet()


class RightLife(HostLife):
    """The operator as it should be."""


class FlagLife(HostLife):
    operator = FlagInMemory


class RecordLife(HostLife):
    operator = RecordAfterCall


class SwallowLife(HostLife):
    operator = SwallowedError


def test_an_operator_with_webhooks_a_conversion_and_a_remote_bears_every_disturbance() -> None:
    explore_scenario(RightLife).check()


@pytest.mark.parametrize(
    ("planted", "modes"),
    [
        (FlagLife, {"503", "timeout"}),
        (RecordLife, {"parent-gone"}),
        (SwallowLife, {"503", "timeout"}),
    ],
)
def test_a_planted_mistake_is_found(planted: type[Scenario], modes: set[str]) -> None:
    failures = explore_scenario(planted).failures
    found = {each.token.partition("@")[0] for each in failures}
    assert found & modes, found
