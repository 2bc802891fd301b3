"""What every system of a simulation has: an operator, users, remotes, and what must hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from quintant.api.core import Namespace
from quintant.core import codec
from quintant.core.errors import AlreadyExists
from quintant.core.object import K, Object, ObjectMeta
from quintant.runtime.manager.manager import Manager
from quintant.testing.explore.simulation.objects import describe
from quintant.testing.simulate.disturbances import RecurringDisturbance
from quintant.testing.simulate.world import SimulatedWorld


class SimulatedSystem:
    """One operator of a simulation: subclass it."""

    namespaces: Sequence[str] = ()
    kinds: Sequence[type[Object]] = ()
    """What is shown of it at the end."""
    sometimes: Sequence[str] = ()
    """What is to happen sometime."""

    def __init__(self, world: SimulatedWorld) -> None:
        self.world = world
        world.assertions.expect(*self.sometimes)
        world.assertions.at_rest(self.at_rest)

    def manager(self) -> Manager:
        """The operator, made anew for each life of a process."""
        raise NotImplementedError

    async def prepare(self) -> None:
        """What there is from the start, after the operator's kinds."""
        raise NotImplementedError

    def disturbances(self) -> list[RecurringDisturbance]:
        """What its users do, and what happens to its remotes."""
        raise NotImplementedError

    def at_rest(self) -> Iterable[str]:
        """What does not hold though there was calm."""
        raise NotImplementedError

    def objects(self) -> Iterable[str]:
        """Its objects, a line each, as they are now."""
        for kind in self.kinds:
            for each in sorted(self.world.all(kind), key=lambda it: it.key):
                status = getattr(each, "status", None)
                yield f"{describe(each)}: {summary(status)}"

    async def begin(self) -> None:
        """Make its namespaces, and what there is from the start."""
        for name in self.namespaces:
            try:
                await self.world.client.create(Namespace(metadata=ObjectMeta(name=name)))
            except AlreadyExists:
                continue
        await self.prepare()


def summary(status: object) -> str:
    """What a status says in a word."""
    words = (getattr(status, name, "") for name in ("phase", "state"))
    return next((str(each) for each in words if each), "no status")


def made(kind: type[K], name: str, namespace: str, spec: Any, **meta: Any) -> K:
    """An object as a user writes it."""
    about = {"name": name, "namespace": namespace, **meta}
    return codec.decode(kind, codec.encode({"metadata": about, "spec": spec}))
