"""Follows one kind in one namespace for ever, and reports what it sees to a sink.

The decisions are in `states` and the reading of one stream in `stream`; here is the loop between
them. One request is open at a time, and it is closed before the next one opens. Nothing the server
sends ends the loop; only cancellation does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Generic

import msgspec
from msgspec.structs import replace

from quintant.client.rest import PAGE_SIZE, Rest
from quintant.core import codec
from quintant.core.clock import Random, monotonic
from quintant.core.errors import ApiError, ObjectIdentity, QuintantError, Undecodable
from quintant.core.object import K
from quintant.core.resource import resource_of
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.watch import watch_states
from quintant.runtime.watch.backoff import ReflectorBackoff
from quintant.runtime.watch.interning import interner
from quintant.runtime.watch.managed_fields import ManagedFieldsStore
from quintant.runtime.watch.reads import ConsistentReads
from quintant.runtime.watch.reflector_target import InitialState, PartialTarget, ReflectorTarget
from quintant.runtime.watch.scope import WatchScope
from quintant.runtime.watch.stream_timers import NAG_SECONDS
from quintant.runtime.watch.timeouts import Timers
from quintant.runtime.watch.watch_errors import classify_watch_error, explain_watch_error
from quintant.runtime.watch.watch_events import UndecodableEvent
from quintant.runtime.watch.watch_states import WatchOutcome, WatchPause, WatchPhase, WatchPosition
from quintant.runtime.watch.watch_stream import BookmarkRhythm, VersionMark, WatchStream

log: Final = get_logger()

# Ends of a stream that are as it should be, or that heal by themselves.
_QUIETLY = (WatchOutcome.ENDED, WatchOutcome.IDLE, WatchOutcome.OUTDATED, WatchOutcome.REFUSED)


GATHER_SECONDS = 0.1
"""How late an event may come of which most are left to others: waking up for each costs more than
reading it."""


class Reflector(Generic[K]):
    """Keeps a sink true to the server."""

    def __init__(
        self,
        rest: Rest,
        scope: WatchScope[K],
        sink: ReflectorTarget[K],
        random: Random,
        timers: Timers = Timers(),
        managed: ManagedFieldsStore | None = None,
    ) -> None:
        self.scope = scope
        self.last_failure: str = ""
        self._rest, self._sink, self._random = rest, sink, random
        self._managed = managed
        self._timers, self._rhythm, self._backoff = (
            timers,
            BookmarkRhythm(timers),
            ReflectorBackoff(random),
        )
        self._position = WatchPosition()
        self._run: WatchStream[K] | None = None
        self._bookmark: VersionMark | None = None
        self._answered_at = 0.0
        self._patience = 0.0
        self._failing_since: float | None = None
        self._complained_at = 0.0
        self.foreign: PartialTarget | None = None
        """Who keeps a part of what comes; None: all of it is the sink's."""
        self._reads = ConsistentReads()

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            if self._reads.take_demand():
                self._position = watch_states.read_anew(self._position)
            outcome = await self._attempt()
            if not (self._reads.demanded and outcome is WatchOutcome.OUTDATED):
                self._note(outcome)
            self._reads.moved()
            pause = self._step(outcome)
            self._run = None
            await self._wait(pause)

    @property
    def alive_at(self) -> float:
        """Loop time of the last byte received; probes and metrics read it."""
        return max(self._answered_at, self._run.alive_at if self._run is not None else 0.0)

    @property
    def version(self) -> str:
        """Everything up to this resource version is with the sink; empty if that is unknown."""
        return (self._run.version if self._run is not None else "") or self._position.version

    @property
    def bookmark(self) -> VersionMark | None:
        """The last version up to which the server said that nothing is missing, and when."""
        return (self._run.bookmark if self._run is not None else None) or self._bookmark

    def read_again(self) -> None:
        """Read the whole state again, where a stream is open that has it and does not keep up."""
        if self._run is not None:
            self._run.end_outdated()

    async def read_anew(self, is_absent: Callable[[], bool] = lambda: False) -> None:
        """Return once the sink has all that a consistent read brought that began after the call.

        What it has is followed until then. A kind that may be missing, and is, is not waited for.
        """
        wanted = self._reads.begun + 1
        while self._reads.done < wanted and not is_absent():
            if self._reads.begun < wanted:
                self._reads.demanded = True
                self.read_again()
            await self._reads.wait()

    def note_read(self) -> None:
        """The sink has the whole state that is being read."""
        self._reads.finish()

    @property
    def failing_since(self) -> float | None:
        """Loop time at which the present row of failures began; None when all is well."""
        return None if self._run is not None and self._run.healthy else self._failing_since

    @property
    def trouble(self) -> str:
        """What is wrong with the stream now; empty when it is healthy."""
        return "" if self.failing_since is None else self.last_failure

    @property
    def idle_limit(self) -> float:
        """How long a stream may be silent before it counts as dead."""
        return self._rhythm.idle_limit(self._timers.life[1])

    async def _attempt(self) -> WatchOutcome:
        at = self._position
        self._reads.begin(consistent=at.phase is not WatchPhase.WATCHING and not at.version)
        try:
            if self._position.phase is WatchPhase.LISTING:
                return await self._list()
            return await self._stream()
        except (QuintantError, *codec.BROKEN) as error:
            return self._failed(error)
        except Exception as error:
            # The watch loop owns recovery: a defect in one kind must not silence it for ever.
            log.exception("watch failed", kind=str(self.scope))
            return self._failed(error)

    def _failed(self, error: Exception) -> WatchOutcome:
        self.last_failure = explain_watch_error(error, resource_of(self.scope.kind))
        if isinstance(error, ApiError):
            self._patience = float(error.details.retry_after_seconds)
        return classify_watch_error(error, self._position.phase)

    async def _stream(self) -> WatchOutcome:
        life = int(self._random.uniform(*self._timers.life))
        initial = self._position.phase is WatchPhase.STREAMING
        run = self._run = WatchStream(
            self.scope,
            self._sink,
            self._rhythm,
            self._managed,
            self.foreign,
            life=life,
            initial=initial,
        )
        try:
            async with self._rest.watch(
                self.scope.kind,
                self.scope.namespace,
                self._watch_query(life),
                gather=GATHER_SECONDS if self.foreign is not None else 0.0,
            ) as chunks:
                return await run.read(chunks)
        finally:
            self._answered_at = run.alive_at or self._answered_at
            self._bookmark = run.bookmark or self._bookmark
            if run.version:
                self._reached(run.version)

    def _watch_query(self, life: int) -> dict[str, str]:
        query = {
            **self.scope.query,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(life),
        }
        if self._position.phase is WatchPhase.STREAMING:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        if self._position.version:
            query["resourceVersion"] = self._position.version
        return query

    async def _list(self) -> WatchOutcome:
        state: InitialState[K] = InitialState()
        version, asked_at = self._position.version, monotonic()
        more: dict[str, str] | None = (
            {"resourceVersion": version, "resourceVersionMatch": "NotOlderThan"} if version else {}
        )
        while more is not None:
            more = await self._page(state, {**self.scope.query, "limit": str(PAGE_SIZE), **more})
        if not state.version:
            raise Undecodable(_list_identity(self.scope), "it has no resourceVersion")
        self._sink.replace(self.scope.namespace, state)
        self._bookmark = VersionMark(asked_at, state.version)
        self._reached(state.version)
        return WatchOutcome.DONE

    async def _page(self, state: InitialState[K], query: dict[str, str]) -> dict[str, str] | None:
        """Collect one page and release it; returns the query of the next, if there is one."""
        page = await self._rest.list_page(self.scope.kind, self.scope.namespace, query)
        self._answered_at = monotonic()
        for raw in page.items or ():
            self._collect(raw, state)
        state.version = page.metadata.resource_version
        token = page.metadata.continue_token
        return {"continue": token} if token else None

    def _collect(self, raw: msgspec.Raw, state: InitialState[K]) -> None:
        if self.foreign is not None and (left := self.foreign.skimmer.item(raw)) is not None:
            state.put_foreign(left)
            return
        try:
            obj = codec.decode(self.scope.kind, raw)
        except Undecodable as error:
            state.put_undecodable(UndecodableEvent(error, codec.decode_meta(raw), deleted=False))
            return
        interner(self.scope.kind)(obj)
        state.put(obj)
        if self._managed is not None:
            self._managed.record_object(obj, bytes(raw))

    def _reached(self, version: str) -> None:
        """Everything up to `version` is with the sink: from now on, follow it."""
        done = watch_states.next_step(
            replace(self._position, version=version), WatchOutcome.DONE, monotonic()
        )
        self._position = done.position

    def _step(self, outcome: WatchOutcome) -> WatchPause:
        decided = watch_states.next_step(self._position, outcome, monotonic())
        if self._position.streaming and not decided.position.streaming:
            log.info("reading by pages: the server has no watch-list", kind=str(self.scope))
        self._position = decided.position
        return decided.pause

    def _note(self, outcome: WatchOutcome) -> None:
        if outcome is WatchOutcome.DONE or (self._run is not None and self._run.healthy):
            self._failing_since = None
        if outcome is WatchOutcome.DONE:
            return
        expected = self._sink.report_restart(outcome)
        if outcome is WatchOutcome.SHORT:
            self.last_failure = "the stream ended at once"
        if outcome in _QUIETLY:
            log.debug("watch ended", kind=str(self.scope), reason=outcome.value)
        elif expected:
            self._tell_missing()
        else:
            self._complain()

    def _tell_missing(self) -> None:
        """Say once that a kind is missing that may be; whoever needs it says so, too."""
        if self._failing_since is None:
            self._failing_since = monotonic()
            log.info("kind is not installed", kind=str(self.scope), hint="it is looked for again")

    def _complain(self) -> None:
        now = monotonic()
        if self._failing_since is None:
            self._failing_since = now
        elif now - self._complained_at < NAG_SECONDS:
            return
        self._complained_at = now
        log.warning("watch failed", kind=str(self.scope), why=self.last_failure)

    async def _wait(self, pause: WatchPause) -> None:
        match pause:
            case WatchPause.NONE:
                seconds = 0.0
            case WatchPause.RECONNECT:
                seconds = self._backoff.reconnect()
            case WatchPause.BACKOFF:
                seconds = self._backoff.next()
            case WatchPause.LONGEST:
                seconds = self._backoff.longest()
        seconds, self._patience = max(seconds, self._patience), 0.0
        if seconds:
            await asyncio.sleep(seconds)


def _list_identity(scope: WatchScope[K]) -> ObjectIdentity:
    return ObjectIdentity(f"{resource_of(scope.kind).kind}List")
