"""An informer whose namespaces come and go: one reflector for each, begun and ended at run time.

What it holds of a namespace that goes is forgotten, and handlers hear that it is not there any
more: whether it was deleted is for the caller to know.
"""

from __future__ import annotations

import asyncio

from quintant.core.object import K
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.watch.reflector import Reflector
from quintant.runtime.watch.reflector_target import InitialState
from quintant.runtime.watch.watch_states import WatchOutcome

# No namespace has it: what is awaited until the first namespaces are known.
_FIRST = ""


class SelectedInformer(Informer[K]):
    """A local copy of a kind in the namespaces that it is told."""

    selected = True

    def _begin(self) -> None:
        super()._begin()
        self._by_namespace.clear()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._read: dict[str, asyncio.Event] = {}
        self._group: asyncio.TaskGroup | None = None
        self._awaited = {_FIRST}
        self._listed()

    async def run(self) -> None:
        """Follow the namespaces that it is told until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                await asyncio.Future()
        finally:
            self._group = None
            self.overlay.close()

    @property
    def synced(self) -> bool:
        """Whether the first namespaces have been read; those that come later are read by then."""
        return self._synced.is_set()

    def open(self) -> None:
        """The first namespaces have been read, or take too long to be waited for."""
        self._awaited.discard(_FIRST)
        self._synced.set()

    def follow(self, namespace: str) -> None:
        """Begin to follow a namespace, once this runs."""
        assert self._group is not None, "whoever selects namespaces begins after its informers"
        reflector = self._reflector(namespace)
        self._by_namespace[namespace] = reflector
        self._awaited.add(namespace)
        self._read[namespace] = asyncio.Event()
        self._tasks[namespace] = self._group.create_task(reflector.run())
        self._listed()

    def leave(self, namespace: str) -> None:
        """Follow a namespace no longer, and forget what is in it."""
        if self._by_namespace.pop(namespace, None) is None:
            return
        self._tasks.pop(namespace).cancel()
        self._awaited.discard(namespace)
        self._read.pop(namespace).set()
        self._listed()
        for key in [key for key in self.undecodable if key.namespace == namespace]:
            del self.undecodable[key]
        for key in [key for key in self._known() if key.namespace == namespace]:
            old = self.overlay.delivered(key) or self.store.get(key)
            self.overlay.drop(key)
            if old is not None:
                self.managed.forget(old.metadata.uid)
                self._deliver(ObjectChange(old, None, final=False))

    async def wait_read(self, namespace: str) -> None:
        """Return once a namespace has been read, or is followed no longer."""
        if (read := self._read.get(namespace)) is not None:
            await read.wait()

    def replace(self, namespace: str, state: InitialState[K]) -> None:
        super().replace(namespace, state)
        self._read[namespace].set()

    def report_restart(self, outcome: WatchOutcome) -> bool:
        absent = super().report_restart(outcome)
        if absent:
            for read in self._read.values():
                read.set()
        return absent

    def _listed(self) -> None:
        self.namespaces: tuple[str, ...] = tuple(self._by_namespace)
        self.reflectors: tuple[Reflector[K], ...] = tuple(self._by_namespace.values())
