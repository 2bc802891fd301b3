"""Objects of which most vanish while nobody looks, and a controller that must notice.

`MissedDeletions` starts something for each object and ends it when the object is gone. Of 150
objects 100 are deleted, and 20 of those are made anew under their old names.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant import Client, Context, Manager, Request
from quintant.api.core import ConfigMap
from quintant.runtime.cache.informer import ObjectChange
from quintant.runtime.manager.engine import Engine
from quintant.testing import named

OBJECTS = 150
DELETED = range(100)
RECREATED = range(20)

Uids = dict[Request, str]


class MissedDeletions:
    """What was started for which object, what was ended, and every change that was told."""

    def __init__(self, client: Client, namespace: str = "default") -> None:
        self.started: Uids = {}
        self.ended: list[Request] = []
        self.changes: list[ObjectChange[ConfigMap]] = []
        self._client, self._namespace = client, namespace

    def manager(self) -> Manager:
        """The controller, indexing its objects by team."""
        manager = Manager("missed", namespaces=[self._namespace])
        declared = manager.controls(ConfigMap).on_deleted(self._gone)
        declared.index("team", lambda obj: [obj.metadata.labels["team"]]).reconcile(self._reconcile)
        return manager

    def listen(self, engine: Engine) -> None:
        """Note every change from now on."""
        engine.caches.informer_for(ConfigMap).subscribe(self.changes.append)
        self.changes.clear()

    async def fill(self) -> Uids:
        """Create all objects."""
        for number in range(OBJECTS):
            await self._client.create(self.config(number))
        return await self.truth()

    async def vanish(self) -> None:
        """Delete most of the objects, and make some of them anew."""
        for number in DELETED:
            await self._client.delete(await self._client.get(ConfigMap, *self._key(number)))
        for number in RECREATED:
            await self._client.create(self.config(number))

    async def truth(self) -> Uids:
        """What the server has."""
        found = await self._client.list(ConfigMap, self._namespace)
        return {obj.key: obj.metadata.uid for obj in found}

    def config(self, number: int) -> ConfigMap:
        labels = {"team": "red" if number % 2 else "blue"}
        return ConfigMap(metadata=named(*self._key(number), labels=labels))

    def keys(self, numbers: Iterable[int]) -> set[Request]:
        return {self._key(number) for number in numbers}

    def check(self, engine: Engine, before: Uids, after: Uids) -> None:
        """Check that what vanished between two states of the server was told and forgotten."""
        deleted = [change.old for change in self.changes if change.new is None and change.old]
        assert {obj.key: obj.metadata.uid for obj in deleted} == {
            key: before[key] for key in self.keys(DELETED)
        }
        assert len(deleted) == len(DELETED)
        assert not any(change.final for change in self.changes if change.new is None)
        for key in self.keys(RECREATED):
            gone, back = [change for change in self.changes if key in _about(change)]
            assert gone.new is None
            assert back.old is None

        assert self.started == after
        assert set(self.ended) == before.keys() - after.keys()
        assert len(self.ended) == len(DELETED) - len(RECREATED)
        store = engine.caches.informer_for(ConfigMap).store
        assert {obj.key: obj.metadata.uid for obj in store} == after
        index = store.index("team")
        assert len(index) == len(after) == OBJECTS - len(DELETED) + len(RECREATED)
        assert {*index.keys("red"), *index.keys("blue")} == after.keys()

    async def _reconcile(self, obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
        self.started[ctx.request] = obj.metadata.uid

    def _gone(self, key: Request) -> None:
        self.ended.append(key)
        del self.started[key]

    def _key(self, number: int) -> Request:
        return Request(f"c{number}", self._namespace)


def _about(change: ObjectChange[ConfigMap]) -> list[Request]:
    return [side.key for side in (change.old, change.new) if side is not None]
