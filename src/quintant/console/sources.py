"""The watches of a console: one per kind, coming and going with the kinds.

Each says whether it is live, since when, and why not: what one kind suffers from, the others do
not. An API server that is silent makes all of them stale: every other second it is asked something
small.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from msgspec import Struct

from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.console.views import ConsoleObject, console_kind, forget_owners
from quintant.core.clock import Clock, Random, monotonic, timestamp
from quintant.core.errors import ApiError, QuintantError
from quintant.core.object import Object
from quintant.core.resource import Resource, resource_of
from quintant.core.text import one_line
from quintant.runtime.cache.informer import Informer, ObjectChange

PROBE_SECONDS = 2.0
"""Between two questions whether the API server answers."""
PROBE_TIMEOUT = 3.0
REASON_LENGTH = 300
READING = "its objects are being read"
NOT_SERVED = "the API server does not serve the kind"

V = TypeVar("V", bound=Object)
AnyChange = ObjectChange[Any]
Listener = Callable[[Resource, AnyChange], None]


class SourceState(Struct, frozen=True):
    """How a watch is."""

    live: bool
    since: str
    """When that began, as far as it is known."""
    reason: str = ""


class Source:
    """One kind that is followed, and who hears of it."""

    def __init__(self, resource: Resource, informer: Informer[Any], started: datetime) -> None:
        self.resource = resource
        self.informer = informer
        self.task: asyncio.Task[None] | None = None
        self._state = SourceState(False, timestamp(started), READING)

    def state(self, now: datetime) -> SourceState:
        """How it is now; the moment stays while nothing changes."""
        reason = self._reason()
        if reason != self._state.reason or self._state.live is bool(reason):
            since = now if not reason else self._failing_since(now)
            self._state = SourceState(not reason, timestamp(since), reason)
        return self._state

    def _reason(self) -> str:
        if self.informer.absent:
            return NOT_SERVED
        if self.informer.trouble:
            return one_line(self.informer.trouble, REASON_LENGTH)
        return "" if self.informer.synced else READING

    def _failing_since(self, now: datetime) -> datetime:
        moments = [each.failing_since for each in self.informer.reflectors]
        began = min((each for each in moments if each is not None), default=None)
        return now if began is None else now - timedelta(seconds=monotonic() - began)


class Sources:
    """All watches."""

    def __init__(self, rest: Rest, clock: Clock, random: Random) -> None:
        self._rest, self._clock, self._random = rest, clock, random
        self._sources: dict[Resource, Source] = {}
        self._listeners: dict[Resource, list[Listener]] = {}
        self._opened: list[Informers] = []
        self._group: asyncio.TaskGroup | None = None
        self._silence: SourceState | None = None

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            for source in self._sources.values():
                self.start(source)
            group.create_task(self._probe())

    def __contains__(self, resource: Resource) -> bool:
        return resource in self._sources

    def follow(self, resource: Resource, kind: type[Object] | None = None) -> None:
        """Follow a kind, as a view of its own or as the JSON of its objects."""
        if resource in self._sources:
            return
        informer = self.make_informer(kind or console_kind(resource))
        source = self._sources[resource] = Source(resource, informer, self._clock.now())
        informer.subscribe(lambda change: self._tell(resource, change))
        if self._group is not None:
            self.start(source)

    def follow_view(self, kind: type[Object]) -> None:
        """Follow a kind as a view of it."""
        self.follow(resource_of(kind), kind)

    def make_informer(self, kind: type[Any], **selection: Any) -> Informer[Any]:
        """An informer that is absent, not failing, while its kind is."""
        informer: Informer[Any] = Informer(self._rest, kind, random=self._random, **selection)
        informer.optional = True
        return informer

    def unfollow(self, resource: Resource) -> None:
        """Follow a kind no more; its objects are gone for all listeners."""
        source = self._sources.pop(resource, None)
        if source is None:
            return
        if source.task is not None:
            source.task.cancel()
        for key in list(source.informer.store.list_keys()):
            obj = source.informer.store.get(key)
            if obj is not None:
                self._tell(resource, ObjectChange(obj, None))

    def subscribe(self, resource: Resource, listener: Listener) -> None:
        """Hear of every object of a kind, whenever it is followed."""
        self._listeners.setdefault(resource, []).append(listener)
        for obj in self.objects(resource):
            listener(resource, ObjectChange(None, obj, initial=True))

    def unsubscribe(self, resource: Resource, listener: Listener) -> None:
        """Hear no more."""
        self._listeners[resource].remove(listener)

    def open_informers(self) -> Informers:
        """Watches for as long as somebody looks at something."""
        found = Informers(self)
        self._opened.append(found)
        return found

    def closed(self, informers: Informers) -> None:
        """Forget watches that were closed."""
        if informers in self._opened:
            self._opened.remove(informers)

    def every(self, view: type[V]) -> Iterator[V]:
        """The objects of all kinds that are followed in one form."""
        for source in self._sources.values():
            if issubclass(source.informer.kind, view):
                yield from self.objects(source.resource)

    def follows_whole(self, resource: Resource) -> bool:
        """Whether every object of a kind is followed, as JSON."""
        source = self._sources.get(resource)
        return source is not None and issubclass(source.informer.kind, ConsoleObject)

    def objects(self, resource: Resource) -> list[Any]:
        """What there is of a kind."""
        source = self._sources.get(resource)
        if source is None:
            return []
        store = source.informer.store
        return [obj for key in store.list_keys() if (obj := store.get(key)) is not None]

    def find(self, resource: Resource) -> Source | None:
        """The watch of a kind."""
        return self._sources.get(resource)

    def states(self) -> Mapping[str, SourceState]:
        """How every watch is, by the full name of its kind."""
        now = self._clock.now()
        opened = (each for informers in self._opened for each in informers.sources)
        found = {each.resource.full_name: each.state(now) for each in opened}
        found |= {each.resource.full_name: each.state(now) for each in self._sources.values()}
        if self._silence is None:
            return found
        return {
            name: state if state.reason == NOT_SERVED else self._silence
            for name, state in found.items()
        }

    def synced(self) -> bool:
        """Whether every watch has told its first state, or why it cannot."""
        return all(each.informer.synced or each.informer.trouble for each in self._sources.values())

    def now(self) -> datetime:
        """The time of day."""
        return self._clock.now()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something beside the watches; only while they run."""
        if self._group is None:
            raise RuntimeError("the watches do not run")
        return self._group.create_task(work)

    def start(self, source: Source) -> None:
        """Begin to follow, now or as soon as everything runs."""
        if self._group is not None and source.task is None:
            source.task = self._group.create_task(source.informer.run())

    def _tell(self, resource: Resource, change: AnyChange) -> None:
        for listener in list(self._listeners.get(resource, ())):
            listener(resource, change)
        if isinstance(change.new, ConsoleObject):
            forget_owners(change.new)

    async def _probe(self) -> None:
        """Ask something small again and again: streams may be silent for a minute in health."""
        heard = self._clock.now()
        while True:
            try:
                call = ApiRequest("GET", "/version", timeout=PROBE_TIMEOUT)
                async with asyncio.timeout(PROBE_TIMEOUT):
                    await self._rest.send(call)
                heard, self._silence = self._clock.now(), None
            except ApiError:  # whatever it is, it answers
                heard, self._silence = self._clock.now(), None
            except (QuintantError, TimeoutError) as error:
                reason = one_line(f"the API server is silent: {_explain(error)}", REASON_LENGTH)
                since = self._silence.since if self._silence is not None else timestamp(heard)
                self._silence = SourceState(False, since, reason)
            await asyncio.sleep(PROBE_SECONDS)


def _explain(error: Exception) -> str:
    return str(error) or f"no answer within {PROBE_TIMEOUT:g} s"


class Informers:
    """Watches that somebody opened, and closes again."""

    def __init__(self, owner: Sources) -> None:
        self._owner = owner
        self.sources: list[Source] = []
        self._waiting: list[asyncio.Task[None]] = []

    def add(
        self,
        kind: type[Object],
        listener: Callable[[AnyChange], None],
        *,
        on_synced: Callable[[], None] | None = None,
        **selection: Any,
    ) -> None:
        """Follow a selection of a kind."""
        informer = self._owner.make_informer(kind, **selection)
        informer.subscribe(listener)
        source = Source(resource_of(kind), informer, self._owner.now())
        self.sources.append(source)
        self._owner.start(source)
        if on_synced is not None:
            self._waiting.append(self._owner.spawn(_after(informer, on_synced)))

    def objects(self) -> Iterator[Object]:
        """Everything that they hold."""
        for source in self.sources:
            store = source.informer.store
            for key in store.list_keys():
                if (obj := store.get(key)) is not None:
                    yield obj

    def close(self) -> None:
        """Follow no more."""
        for task in (*self._waiting, *(each.task for each in self.sources)):
            if task is not None:
                task.cancel()
        self._owner.closed(self)


async def _after(informer: Informer[Any], work: Callable[[], None]) -> None:
    await informer.wait_synced()
    work()
