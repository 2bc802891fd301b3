"""Objects that come, change and go all the time, and a controller that only follows them."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from quintant import Client, Context, Manager, Timers
from quintant.api.core import ConfigMap
from quintant.runtime.manager.engine import Engine
from quintant.testing import named
from quintant.testing.faults.transport import SentRequest

DELETED_SHARE = 0.3


class ChangingObjects:
    """So many objects in a namespace, of which `turn` changes some."""

    def __init__(self, client: Client, objects: int, namespace: str = "default") -> None:
        self._client, self._objects, self._namespace = client, objects, namespace
        self._random = Random(3)

    def manager(self, timers: Timers = Timers()) -> Manager:
        manager = Manager("changing", namespaces=[self._namespace], watch=timers)
        manager.controls(ConfigMap).reconcile(_reconcile)
        return manager

    def config(self, number: int, text: str = "") -> ConfigMap:
        return ConfigMap(metadata=named(f"c{number}", self._namespace), data={"text": text})

    async def fill(self) -> None:
        """Create all objects."""
        for number in range(self._objects):
            await self._client.create(self.config(number))

    async def turn(self, changes: int) -> None:
        """Change, delete or make anew so many objects."""
        for number in self._random.sample(range(self._objects), changes):
            found = await self._client.find(ConfigMap, f"c{number}", self._namespace)
            if found is not None and self._random.random() < DELETED_SHARE:
                await self._client.delete(found)
            else:
                await self._client.apply(self.config(number, str(self._random.random())))

    async def truth(self) -> dict[str, str]:
        """What the server has: names and versions."""
        return _versions(await self._client.list(ConfigMap, self._namespace))


def cached(engine: Engine) -> dict[str, str]:
    """What the controller believes: names and versions."""
    return _versions(engine.caches.informer_for(ConfigMap).store)


def busiest(sent: Iterable[SentRequest]) -> int:
    """The most requests within one second."""
    times = [one.at for one in sent]
    return max(sum(at <= other < at + 1 for other in times) for at in times)


async def _reconcile(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
    """Needs nothing but the cache."""


def _versions(objects: Iterable[ConfigMap]) -> dict[str, str]:
    return {obj.metadata.name: obj.metadata.resource_version for obj in objects}
