"""What a call has made outside is written down after the call.

An operator asks a cloud for a machine and writes the machine's id into the status. If the answer is
lost, or it is killed before the status is written, the machine runs, is paid for, and nobody knows
of it: the next reconcile asks for another.

Mended: whatever is made carries a tag that follows from the object, and who makes one looks first
whether there is one with that tag.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant import Context, Custom, Manager, Model, resource
from quintant.testing import FaultMode, RemoteModel, Scenario, ScenarioWorld, effect, named

CAUGHT_BY = FaultMode.LOST


class ServerStatus(Model):
    machine: str | None = None


@resource(group="gallery.dev", version="v1", status=True)
class Server(Custom[Model, ServerStatus]):
    """A machine in a cloud."""


class Cloud(RemoteModel):
    """Makes a machine whenever it is asked, under an id of its own choice."""

    def __init__(self) -> None:
        self.machines: dict[str, str] = {}

    @effect
    async def create(self, tag: str) -> str:
        self.ledger.add("machine", tag)
        machine = f"i-{len(self.machines)}"
        self.machines[machine] = tag
        return machine

    async def find(self, tag: str) -> str | None:
        return next((machine for machine, each in self.machines.items() if each == tag), None)


class Mistake(Scenario):
    """One server."""

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"cloud": Cloud()}

    async def machine_of(self, cloud: Cloud, server: Server) -> str:
        return await cloud.create(str(server.key))

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        cloud = world.remotes["cloud"]
        assert isinstance(cloud, Cloud)

        async def reconcile(server: Server, ctx: Context[Server]) -> None:
            if server.status is None:
                machine = await self.machine_of(cloud, server)
                await ctx.set_status(ServerStatus(machine=machine))

        manager = Manager("servers")
        manager.controls(Server).reconcile(reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Server(metadata=named("web"), spec=Model()))
        await world.quiet()


class Mended(Mistake):
    """The same, by a controller that looks first."""

    async def machine_of(self, cloud: Cloud, server: Server) -> str:
        tag = str(server.key)
        return await cloud.find(tag) or await cloud.create(tag)
