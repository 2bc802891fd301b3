"""Namespaces by label: kinds are followed in those that have it, as they come and go.

    appears ──> waits for a turn ──> is read by every cache ──> its keys are worked on
       ^                                                              │
       └──── at least a second later ──── has left: forgotten <───────┘

A namespace is closed from the moment in which this process hears that it lost the label: what runs
for its objects is ended, no write into it leaves, and its keys are dropped without a word to
`on_deleted`. One that was deleted is another matter: its objects are gone, and are said to be.

How many namespaces are read at once is bounded, and how often one can begin, too: whoever changes
a label ten times a second has it followed once a second at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from quintant.api.core import Namespace
from quintant.client.request_info import resource_path
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.core.clock import Random, monotonic
from quintant.core.errors import NotSelected
from quintant.core.object import Metadata
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.cache.selected_informer import SelectedInformer
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.watch.timeouts import Timers

STARTS_AT_ONCE = 16
"""Namespaces that are read for the first time at once: each opens a watch per kind."""
START_SECONDS = 5.0
"""After which one that is not read yet makes room: it may be forbidden."""
RETURN_SECONDS = 1.0
"""After it left until it is followed again, if it has the label again by then."""
MOST_LEFT = 10_000
"""Namespaces that have left and are remembered, the latest."""

log: Final = get_logger()
Listener = Callable[[str], None]


class SelectedNamespaces:
    """The namespaces that have certain labels, and the caches that follow them."""

    informer_type = SelectedInformer

    def __init__(
        self,
        rest: Rest,
        labels: Mapping[str, str],
        random: Random,
        *,
        metrics: Metrics | None = None,
        timers: Timers = Timers(),
    ) -> None:
        self.informer: Informer[Metadata[Namespace]] = Informer(
            rest,
            Metadata[Namespace],
            random=random,
            labels=labels,
            observer=metrics,
            timers=timers,
        )
        self.informer.subscribe(self._changed)
        self.ready: set[str] = set()
        """Those that every cache has read."""
        self._informers: list[SelectedInformer[Any]] = []
        self._waiting: dict[str, float] = {}
        """Those that are to be followed, and the loop's time from when on."""
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._left: dict[str, float] = {}
        self._first: set[str] | None = None
        """Of the first ones, those that the start still waits for; None before they are known."""
        self.reading: set[str] = set()
        """Those that are read for the first time, and have not taken too long for it."""
        self._news = asyncio.Event()
        self._on_ready: list[Listener] = []
        self._on_left: list[Listener] = []

    @property
    def waiting(self) -> int:
        """How many have the label and are not read yet."""
        return len(self._waiting) + len(self._starting)

    def add(self, informer: SelectedInformer[Any]) -> None:
        """Have a cache follow them."""
        self._informers.append(informer)

    def subscribe(self, ready: Listener, left: Listener) -> None:
        """Hear of namespaces that are ready from now on, and of those that are closed."""
        self._on_ready.append(ready)
        self._on_left.append(left)

    def has_left(self, name: str) -> bool:
        """Whether a namespace was followed, lost its label, and is not followed again yet."""
        return name in self._left

    def is_closed(self, name: str) -> bool:
        """Whether keys of a namespace have to wait, or are nobody's."""
        return name in self._left or name in self._waiting or name in self._starting

    def fence(self, call: ApiRequest | None = None, /) -> None:
        """Let a write pass unless it goes into a namespace that has left."""
        if call is not None and self._left:
            namespace = resource_path(call.path).namespace
            if namespace in self._left:
                raise NotSelected(namespace)

    async def run(self) -> None:
        """Begin and end what follows them, until cancelled; the caches run by now."""
        await self.informer.wait_synced()
        self._first = set(self._waiting)
        self._open()
        async with asyncio.TaskGroup() as group:
            while True:
                name = await self._next()
                self._left.pop(name, None)
                for informer in self._informers:
                    informer.follow(name)
                self.reading.add(name)
                self._starting[name] = group.create_task(self._start(name))

    async def _next(self) -> str:
        """The next that is to be followed, when its time has come and there is room for it."""
        while True:
            self._news.clear()
            pause = None
            if self._waiting and len(self.reading) < STARTS_AT_ONCE:
                name = min(self._waiting, key=self._waiting.__getitem__)
                pause = self._waiting[name] - monotonic()
                if pause <= 0:
                    del self._waiting[name]
                    return name
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._news.wait()

    async def _start(self, name: str) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await self._read(name)
        self._make_room(name)
        await self._read(name)
        del self._starting[name]
        self.ready.add(name)
        for listener in self._on_ready:
            listener(name)

    def _make_room(self, name: str) -> None:
        """Let the next one begin, and the start continue: this one was read, or takes too long."""
        self.reading.discard(name)
        self._news.set()
        if self._first is not None:
            self._first.discard(name)
            self._open()

    async def _read(self, name: str) -> None:
        for informer in self._informers:
            await informer.wait_read(name)

    def _changed(self, change: ObjectChange[Metadata[Namespace]]) -> None:
        old, new = change.old, change.new
        if old is None and new is not None:
            self._appeared(new.metadata.name)
        elif new is None and old is not None:
            # A deletion is announced in the object; all that was in it is gone by then.
            self._vanished(old.metadata.name, deleted=change.final and old.deleting)

    def _appeared(self, name: str) -> None:
        now = monotonic()
        self._waiting[name] = max(now, self._left.get(name, now - RETURN_SECONDS) + RETURN_SECONDS)
        self._news.set()

    def _vanished(self, name: str, *, deleted: bool) -> None:
        self._waiting.pop(name, None)
        if (task := self._starting.pop(name, None)) is not None:
            task.cancel()
        self.ready.discard(name)
        self._left.pop(name, None)
        if not deleted:
            self._left[name] = monotonic()
            if len(self._left) > MOST_LEFT:
                del self._left[next(iter(self._left))]
            log.info("namespace is not selected any more", namespace=name)
        for listener in self._on_left:
            listener(name)
        for informer in self._informers:
            informer.leave(name)
        self._make_room(name)

    def _open(self) -> None:
        """Let the start continue once it need not wait for any of the first ones."""
        if not self._first:
            for informer in self._informers:
                informer.open()
