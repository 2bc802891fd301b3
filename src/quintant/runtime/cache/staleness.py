"""How far the caches are behind the server, sampled: consistent reads, and what follows from them.

A view is the cache of one kind in one namespace, or in all. While a manager samples, each view has
a task that asks the server now and then which version it is at (one object's metadata, whatever the
number of objects); how far it is behind follows from what the watch has reached since (`view_age`),
without a call per event or per reconcile. A watch that brings neither changes nor a bookmark,
though the server is ahead of it for long, has its state read again: once in five minutes at most.

The loop's clock stands still while a machine sleeps; a cache grows old meanwhile. So time is taken
by the clock that goes on, too.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Final

from quintant.client.rest import Rest
from quintant.core import codec
from quintant.core.clock import Boottime, Random, monotonic, seconds_of
from quintant.core.errors import ConfigError, QuintantError, StaleCache
from quintant.core.gather import each
from quintant.runtime.cache.informer import Informer
from quintant.runtime.cache.view_age import ahead_since, keep_reads, proven_at
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.watch.reflector import Reflector
from quintant.runtime.watch.watch_stream import VersionMark

log: Final = get_logger()

# A consistent read that takes longer proves nothing of use.
READ_SECONDS = 10.0
# Of namespaces that come and go, so many are asked about at once.
READS_AT_ONCE = 16
# How often at most the server is asked, whoever waits for an answer.
READ_AGAIN_SECONDS = 1.0
# While somebody waits for a view, it is looked at so often whether the watch has caught up.
POLL_SECONDS = 0.1
# Servers send bookmarks every minute: whoever is still behind after two gets none.
OUTDATED_SECONDS = 120.0
# Reading a whole kind is dear: it is done no more often, whatever the server does.
STATE_AGAIN_SECONDS = 300.0
# Asked more often, the server does work that tells nobody anything.
LEAST_SAMPLING_SECONDS = 1.0
# A guard has its kinds sampled so often within the time that they may be behind.
SAMPLES_WITHIN = 3
# Samples are spread over a tenth of the time between two, lest all kinds ask at once.
JITTER = 0.1
# A machine that slept for less is not worth a note.
SLEPT_SECONDS = 1.0


def check_within(what: str, within: float | timedelta) -> float:
    """The seconds that a view may be behind; ConfigError if that is none."""
    seconds = seconds_of(within)
    if not 0 < seconds < math.inf:
        raise ConfigError(
            f"{what}(within={within})",
            because="a cache is always a moment behind the server",
            hint="give it the seconds that do no harm, such as within=120",
        )
    return seconds


class SleepClock:
    """How long ago moments of the loop's clock are, the sleep of the machine included."""

    def __init__(self, boottime: Boottime) -> None:
        self.boottime = boottime
        self._apart: float | None = None
        self._slept, self._woke_at = 0.0, -math.inf

    def since(self, moment: float) -> float:
        """Seconds since a moment, rather too many than too few."""
        now = monotonic()
        apart, before = self.boottime() - now, self._apart
        if before is not None and apart - before > SLEPT_SECONDS:
            self._slept, self._woke_at = self._slept + apart - before, now
        self._apart = apart
        return now - moment + (self._slept if moment <= self._woke_at else 0.0)


class CacheView:
    """One reflector's view of the server, and how old it may be."""

    def __init__(
        self, rest: Rest, informer: Informer[Any], reflector: Reflector[Any], clock: SleepClock
    ) -> None:
        self.kind: str = informer.resource.full_name
        self._rest, self._informer, self._reflector = rest, informer, reflector
        self._clock = clock
        fields = reflector.scope.fields
        # A role may be for one object; any other selection would have the server look for a match.
        self._query = reflector.scope.query if "metadata.name" in fields else {}
        self._reads: tuple[VersionMark, ...] = ()
        self._reading = asyncio.Lock()
        self._tried_at = self._read_again_at = -math.inf

    @property
    def staleness(self) -> float | None:
        """Seconds that the view is behind at most; None before it has anything.

        A kind that may be missing, and is, has nothing to be behind.
        """
        if self._informer.absent:
            return 0.0
        reflector = self._reflector
        proven = proven_at(reflector.version, self._reads, reflector.bookmark)
        return None if proven is None else max(0.0, self._clock.since(proven))

    def rank(self) -> float:
        """The staleness, as what is compared: without end before the view has anything."""
        staleness = self.staleness
        return math.inf if staleness is None else staleness

    def is_within(self, seconds: float) -> bool:
        """Whether the view is surely no older."""
        return self.rank() <= seconds

    async def read(self) -> None:
        """Ask the server how far it is; what it does not answer leaves the view as old as it is."""
        began = monotonic()
        async with self._reading:
            if self._tried_at >= began:
                return  # another caller has just asked
            self._tried_at = monotonic()
            await self._read(self._tried_at)

    async def wait_within(self, seconds: float) -> None:
        """Return once the view is surely no older; for ever, if the caller sets no limit."""
        while not self.is_within(seconds):
            due = monotonic() - self._tried_at >= READ_AGAIN_SECONDS
            if due and not self._is_asked(seconds):
                await self.read()
            else:
                await asyncio.sleep(POLL_SECONDS)

    async def sample(self, every: float, random: Random) -> None:
        """Ask the server every so many seconds, until cancelled."""
        while True:
            await self.read_if_healthy()
            await asyncio.sleep(random.jitter(every, JITTER))

    async def read_if_healthy(self) -> None:
        """Ask the server how far it is, unless the watch fails: that is told elsewhere."""
        if self._reflector.failing_since is None:
            await self.read()

    async def _read(self, at: float) -> None:
        scope = self._reflector.scope
        try:
            async with asyncio.timeout(READ_SECONDS):
                version = await self._rest.newest_version(scope.kind, scope.namespace, self._query)
        except (QuintantError, TimeoutError, *codec.BROKEN) as error:
            log.debug("cannot tell how far a cache is behind", kind=str(scope), why=str(error))
            return
        reached = self._reflector.version
        self._reads = keep_reads(self._reads, VersionMark(at, version), reached)
        since = ahead_since(reached, self._reads)
        if since is not None and at - since >= OUTDATED_SECONDS:
            self._read_state_again(at)

    def _read_state_again(self, now: float) -> None:
        if now - self._read_again_at >= STATE_AGAIN_SECONDS:
            self._read_again_at = now
            log.info("reading a kind again: its watch is behind", kind=str(self._reflector.scope))
            self._reflector.read_again()

    def _is_asked(self, seconds: float) -> bool:
        """Whether a read is under way to being reached that would do."""
        return bool(self._reads) and self._clock.since(self._reads[-1].at) <= seconds / 2


class ControllerViews:
    """The views that one controller acts on."""

    def __init__(self, views: Callable[[], Sequence[CacheView]]) -> None:
        """`views` lists those that there are now: where namespaces are selected, they change."""
        self._views = views

    @property
    def kinds(self) -> dict[str, float]:
        """Seconds that each kind is behind at most; without those of which nothing is known yet."""
        found: dict[str, float] = {}
        for view in self._views():
            if (behind := view.staleness) is not None:
                found[view.kind] = max(behind, found.get(view.kind, 0.0))
        return found

    @property
    def oldest(self) -> CacheView | None:
        """The view that is the furthest behind; one of which nothing is known is further."""
        return max(self._views(), key=lambda view: view.rank(), default=None)

    async def wait_within(self, seconds: float, limit: float) -> None:
        """Wait until all of them are no older; StaleCache if one still is after the limit."""
        began = monotonic()
        for view in self._views():
            try:
                async with asyncio.timeout_at(began + limit) as late:
                    await view.wait_within(seconds)
            except TimeoutError:
                if not late.expired():
                    raise
                raise StaleCache(view.kind, view.staleness, seconds) from None


class Staleness:
    """The views of a process, shared by its controllers."""

    def __init__(self, rest: Rest, boottime: Boottime, random: Random) -> None:
        self._rest, self._random = rest, random
        self._clock = SleepClock(boottime)
        self._views: dict[Reflector[Any], CacheView] = {}
        self._selected: dict[Informer[Any], None] = {}
        """Those whose namespaces come and go, and with them their views."""
        self._passing: dict[Reflector[Any], CacheView] = {}

    @property
    def boottime(self) -> Boottime:
        """The clock that views grow old by."""
        return self._clock.boottime

    def views(self, informers: Iterable[Informer[Any]]) -> ControllerViews:
        """Those of some informers, for one controller."""
        followed = list(informers)
        lasting = [one for one in followed if not one.selected]
        passing = dict.fromkeys(one for one in followed if one.selected)
        found = [self._view(one, reflector) for one in lasting for reflector in one.reflectors]
        views = list(dict.fromkeys(found))
        if not passing:
            return ControllerViews(lambda: views)
        self._selected |= passing
        return ControllerViews(lambda: [*views, *self._passing_views(passing)])

    async def sample(self, every: float) -> None:
        """Ask the server how far it is, for each view, every so many seconds; until cancelled."""
        async with asyncio.TaskGroup() as group:
            for view in self._views.values():
                group.create_task(view.sample(every, self._random))
            if self._selected:
                group.create_task(self._sample_passing(every))

    async def _sample_passing(self, every: float) -> None:
        while True:
            views = self._passing_views(self._selected)
            await each(views, CacheView.read_if_healthy, limit=READS_AT_ONCE)
            await asyncio.sleep(self._random.jitter(every, JITTER))

    def _passing_views(self, informers: Iterable[Informer[Any]]) -> list[CacheView]:
        """Those of the namespaces that are followed now; of others none is kept."""
        known = self._passing
        self._passing = {
            reflector: known.get(reflector) or self._new(informer, reflector)
            for informer in self._selected
            for reflector in informer.reflectors
        }
        return [self._passing[found] for informer in informers for found in informer.reflectors]

    def _view(self, informer: Informer[Any], reflector: Reflector[Any]) -> CacheView:
        if reflector not in self._views:
            self._views[reflector] = self._new(informer, reflector)
        return self._views[reflector]

    def _new(self, informer: Informer[Any], reflector: Reflector[Any]) -> CacheView:
        return CacheView(self._rest, informer, reflector, self._clock)


def sampling_seconds(setting: float | None, withins: Iterable[float | None]) -> float | None:
    """How often to sample, by the setting and what controllers are fresh within; None: never."""
    wanted = [seconds / SAMPLES_WITHIN for seconds in withins if seconds is not None]
    if setting is not None:
        wanted.append(setting)
    return max(LEAST_SAMPLING_SECONDS, min(wanted)) if wanted else None
