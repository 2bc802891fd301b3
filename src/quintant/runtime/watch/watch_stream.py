"""One watch stream, read from its opening to its end.

A run turns lines into reports to the sink. The initial state is collected apart and handed over
whole, when the bookmark that ends it has come; from then on each event goes to the sink at once.
Silence is looked after by a timer that is set when it rings and not when something comes, for
something comes often: each chunk only leaves a stamp.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Generic

import msgspec
from msgspec import Struct

from quintant.core.clock import monotonic
from quintant.core.errors import ApiError
from quintant.core.object import K
from quintant.runtime.watch.interning import interner
from quintant.runtime.watch.line_buffer import LineBuffer
from quintant.runtime.watch.managed_fields import ManagedFieldsStore
from quintant.runtime.watch.reflector_target import InitialState, PartialTarget, ReflectorTarget
from quintant.runtime.watch.scope import WatchScope
from quintant.runtime.watch.stream_timers import ProgressWarning, SilenceTimer
from quintant.runtime.watch.timeouts import MARGIN_SECONDS, Timers
from quintant.runtime.watch.watch_events import (
    BookmarkEvent,
    ChangedEvent,
    DeletedEvent,
    ForeignEvent,
    UndecodableEvent,
    parse_event,
)
from quintant.runtime.watch.watch_states import WatchOutcome

# A stream that ends sooner than this, having brought nothing, counts as a failure.
SHORT_SECONDS = 1.0


class BookmarkRhythm(Struct):
    """How often the server sends bookmarks, over all streams of one reflector."""

    timers: Timers
    gap: float | None = None
    """The longest time between two bookmarks of one stream; None before the first bookmark."""

    def record_bookmark(self, gap: float) -> None:
        """Learn from one more bookmark, so long after the one before."""
        self.gap = max(self.gap or 0.0, gap)

    def idle_limit(self, life: float) -> float:
        """How long a stream of so many seconds may be silent before it counts as dead."""
        return self.timers.idle(life, self.gap)


class VersionMark(Struct, frozen=True):
    """The server was at this version at this moment, or later."""

    at: float
    version: str


class WatchStream(Generic[K]):
    """What one stream has brought so far."""

    _alarm: SilenceTimer

    def __init__(
        self,
        scope: WatchScope[K],
        sink: ReflectorTarget[K],
        rhythm: BookmarkRhythm,
        managed: ManagedFieldsStore | None = None,
        foreign: PartialTarget | None = None,
        *,
        life: float,
        initial: bool,
    ) -> None:
        self.initial: bool = initial
        """Whether the initial state is still coming in."""
        self.version: str = ""
        """Everything up to here has been reported; empty before anything has."""
        self.alive_at: float = 0.0
        """Loop time of the last byte received; 0 before the first."""
        self.events: int = 0
        self.bookmark: VersionMark | None = None
        """What the last bookmark said, and when; the initial state is as old as its request."""
        self._asked_at, self._limit, self._outdated = monotonic(), asyncio.timeout(None), False
        self._scope, self._sink, self._rhythm, self._life = scope, sink, rhythm, life
        self._managed, self._foreign = managed, foreign
        self._state: InitialState[K] = InitialState()
        self._opened = math.inf
        self._bookmarked_at: float | None = None

    @property
    def healthy(self) -> bool:
        """Whether the stream has been of any use."""
        return self.events > 0 or self._lived >= SHORT_SECONDS

    async def read(self, chunks: AsyncIterator[bytes]) -> WatchOutcome:
        """Report everything up to the stream's end, and say how it ended."""
        self._opened = monotonic()
        try:
            async with self._limit as limit:
                with (
                    SilenceTimer(limit, self._due) as self._alarm,
                    ProgressWarning(str(self._scope), self._waiting),
                ):
                    await self._drain(chunks)
        except TimeoutError:
            if not limit.expired():
                raise
            if self._outdated:
                return WatchOutcome.OUTDATED
            return WatchOutcome.IDLE if monotonic() >= self._silent_at else WatchOutcome.ENDED
        return self._ending()

    def end_outdated(self) -> None:
        """End the stream, so that the state is read anew: the server is ahead, or was asked to say.

        One that reads the initial state is left to it.
        """
        if self.initial:
            return
        self._outdated = True
        with suppress(RuntimeError):  # one that is not open yet sees it then; or it ends already
            self._limit.reschedule(monotonic())

    async def _drain(self, chunks: AsyncIterator[bytes]) -> None:
        if self._outdated:
            self._limit.reschedule(monotonic())
        lines = LineBuffer()
        async for chunk in chunks:
            self.alive_at = monotonic()
            for line in lines.feed(chunk):
                self._take(line)
            chunk = line = b""  # or the last of them is held until the next one comes

    def _take(self, line: bytes) -> None:
        foreign = self._foreign
        if foreign is not None and (left := foreign.skimmer.event(line)) is not None:
            self._left(foreign, left)
            return
        frame = parse_event(self._scope.kind, line)
        if isinstance(frame, ChangedEvent):
            self._changed(frame.obj, line)
        elif isinstance(frame, ApiError):
            raise frame
        elif isinstance(frame, BookmarkEvent):
            self._bookmarked(frame)
        elif self.initial:
            self._collect(frame)
        else:
            self._report(frame)
        self.events += 1

    def _left(self, foreign: PartialTarget, event: ForeignEvent) -> None:
        self.events += 1
        if self.initial:
            self._state.put_foreign(event)
        else:
            foreign.note_foreign(event)
            self.version = event.version

    def _changed(self, obj: K, line: bytes) -> None:
        if self._managed is not None:
            # Before the sink: what is new to the cache is so until it has it.
            self._managed.record_event(obj, line)
        interner(self._scope.kind)(obj)
        if self.initial:
            self._state.put(obj)
        else:
            # The version moves when the sink has taken the event: what it chokes on comes again.
            self._sink.upsert(obj)
            self.version = obj.metadata.resource_version

    def _collect(self, frame: DeletedEvent[K] | UndecodableEvent) -> None:
        if isinstance(frame, DeletedEvent):
            self._state.drop(frame.obj.key)
        else:
            self._state.put_undecodable(frame)

    def _report(self, frame: DeletedEvent[K] | UndecodableEvent) -> None:
        if isinstance(frame, DeletedEvent):
            self._sink.delete(frame.obj)
            self.version = frame.obj.metadata.resource_version
        else:
            self._sink.report_undecodable(frame.error, frame.meta, deleted=frame.deleted)
            self.version = frame.meta.resource_version or self.version

    def _bookmarked(self, bookmark: BookmarkEvent) -> None:
        now = monotonic()
        self._rhythm.record_bookmark(
            0.0 if self._bookmarked_at is None else now - self._bookmarked_at
        )
        self._bookmarked_at = now
        # Events of the initial state come in no order: only its end is a version to continue from.
        if self.initial and bookmark.initial:
            self._complete(bookmark.version)
        elif not self.initial:
            self.version = bookmark.version or self.version
            self.bookmark = VersionMark(now, self.version)
        self._alarm.reschedule()  # what a bookmark teaches may bring the end of patience nearer

    def _complete(self, version: str) -> None:
        if not version:
            raise msgspec.DecodeError("the initial state ends without a version")
        state, self._state = self._state, InitialState()
        state.version = version
        self._sink.replace(self._scope.namespace, state)
        self.initial, self.version = False, version
        self.bookmark = VersionMark(self._asked_at, version)

    def _due(self) -> float:
        """When the stream counts as dead, or its initial state as never ending."""
        if self.initial:
            return min(self._silent_at, self._opened + self._life + MARGIN_SECONDS)
        return self._silent_at

    @property
    def _silent_at(self) -> float:
        return max(self.alive_at, self._opened) + self._rhythm.idle_limit(self._life)

    @property
    def _lived(self) -> float:
        return monotonic() - self._opened

    def _ending(self) -> WatchOutcome:
        if self.initial:
            # As long as announced and no end of the initial state: the server knows of none.
            announced = self._lived >= self._life - SHORT_SECONDS
            return WatchOutcome.ENDED if announced else WatchOutcome.SHORT
        return WatchOutcome.ENDED if self.healthy else WatchOutcome.SHORT

    def _waiting(self) -> int | None:
        return len(self._state.objects) if self.initial else None
