"""Follows one kind in one namespace for ever, and reports what it sees to a sink.

The decisions are in `states`; here are the connections. One request is open at a time, and it is
closed before the next one opens. Nothing the server sends ends the loop; only cancellation does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol

import msgspec

from quintant.runtime import codec
from quintant.runtime.client.rest import Rest
from quintant.runtime.clock import Chance, monotonic
from quintant.runtime.errors import ApiError, TooManyRequests, TransportError, Undecodable
from quintant.runtime.logs import get_logger
from quintant.runtime.object import K, ObjectMeta, Request
from quintant.runtime.resource import resource_of
from quintant.runtime.watch import states
from quintant.runtime.watch.backoff import Backoff
from quintant.runtime.watch.classify import classify
from quintant.runtime.watch.frames import Bookmark, Changed, Deleted, Misfit, parse
from quintant.runtime.watch.interning import interner
from quintant.runtime.watch.lines import Lines
from quintant.runtime.watch.states import Outcome, Pause, Phase, Position, Step
from quintant.runtime.watch.timers import Timers

log = get_logger()

PAGE_SIZE = 500
# A stream that ends sooner than this, having brought nothing, counts as a failure.
SHORT_SECONDS = 1.0
NAG_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Scope(Generic[K]):
    """What is followed: a kind, in one namespace or (empty) in all, selected on the server."""

    kind: type[K]
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def query(self) -> dict[str, str]:
        """The selectors, as the API spells them."""
        selectors = {
            "labelSelector": selector(self.labels),
            "fieldSelector": selector(self.fields),
        }
        return {name: text for name, text in selectors.items() if text}

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{resource_of(self.kind).full_name}{where}"


@dataclass(slots=True)
class State(Generic[K]):
    """The whole state of a scope, while it is collected and when it is complete."""

    objects: dict[Request, K] = field(default_factory=dict)
    misfits: list[Misfit] = field(default_factory=list)
    version: str = ""


class Sink(Protocol[K]):
    """Where a reflector reports to. All methods are synchronous: no reader sees half a change."""

    def replaced(self, namespace: str, state: State[K]) -> None:
        """The whole state of the scope, read anew."""

    def upserted(self, obj: K) -> None:
        """An object is there, new or changed."""

    def removed(self, obj: K) -> None:
        """An object is gone, or left the selection."""

    def misfit(self, error: Undecodable, meta: ObjectMeta, *, deleted: bool) -> None:
        """An object does not fit its type."""

    def restarted(self, outcome: Outcome) -> None:
        """The connection ended, and why."""


class Reflector(Generic[K]):
    """Keeps a sink true to the server."""

    def __init__(
        self,
        rest: Rest,
        scope: Scope[K],
        sink: Sink[K],
        chance: Chance,
        timers: Timers = Timers(),
    ) -> None:
        self.scope = scope
        self.alive_at = 0.0
        """Loop time of the last byte received; probes and metrics read it."""
        self.failing_since: float | None = None
        self.last_failure = ""
        self._connected_at: float | None = None
        self._rest, self._sink, self._chance, self._timers = rest, sink, chance, timers
        self._life = int(timers.life[1])
        self._backoff = Backoff(chance)
        self._position = Position()
        self._version = ""
        self._longest_gap: float | None = None
        self._patience = 0.0
        self._intern = interner(scope.kind)

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            outcome = await self._attempt()
            self._connected_at = None
            self._note(outcome)
            decided = self._step(outcome)
            await self._pause(decided.pause)

    @property
    def trouble(self) -> str:
        """What is wrong with the stream now; empty when it is healthy."""
        connected = self._connected_at
        if self.failing_since is None or (
            connected is not None and monotonic() - connected >= SHORT_SECONDS
        ):
            return ""
        return self.last_failure

    @property
    def idle_limit(self) -> float:
        """How long the present stream may be silent before it counts as dead."""
        return self._timers.idle(self._life, self._longest_gap)

    async def _attempt(self) -> Outcome:
        try:
            if self._position.phase is Phase.LISTING:
                return await self._list()
            return await self._stream()
        except TooManyRequests as error:
            self._patience = error.retry_after
            return self._failed(error)
        except (ApiError, TransportError, Undecodable, *codec.BROKEN) as error:
            return self._failed(error)
        except Exception as error:
            # The watch loop owns recovery: a defect in one kind must not silence it for ever.
            log.exception("watch failed", kind=str(self.scope))
            return self._failed(error)

    def _failed(self, error: Exception) -> Outcome:
        self.last_failure = str(error)
        return classify(error, self._position.phase)

    def _step(self, outcome: Outcome) -> Step:
        at = replace(self._position, version=self._version)
        decided = states.step(at, outcome, monotonic())
        self._position, self._version = decided.position, decided.position.version
        return decided

    async def _list(self) -> Outcome:
        state: State[K] = State()
        query = {**self.scope.query, "limit": str(PAGE_SIZE)}
        if self._version:
            start = {"resourceVersion": self._version, "resourceVersionMatch": "NotOlderThan"}
        else:
            start = {}
        while True:
            page = await self._rest.page(self.scope.kind, self.scope.namespace, query | start)
            self._alive()
            for raw in page.items or ():
                self._collect(raw, state)
            if not page.metadata.continue_token:
                break
            start = {"continue": page.metadata.continue_token}
        self._complete(state, page.metadata.resource_version)
        return Outcome.DONE

    async def _stream(self) -> Outcome:
        self._life = int(self._chance.uniform(*self._timers.life))
        opened = monotonic()
        run: _Run[K] = _Run(self._position.phase is Phase.STREAMING)
        async with self._rest.watch(self.scope.kind, self.scope.namespace, self._query()) as chunks:
            self._connected_at = monotonic()
            with _Nag(self.scope, run):
                try:
                    await self._read(chunks, run)
                except TimeoutError:
                    return Outcome.IDLE
        return _ending(run, monotonic() - opened, self._life)

    async def _read(self, chunks: AsyncIterator[bytes], run: _Run[K]) -> None:
        lines = Lines()
        while True:
            async with asyncio.timeout(self.idle_limit):
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            self._alive()
            for line in lines.feed(chunk):
                run.events += 1
                self._take(line, run)

    def _query(self) -> dict[str, str]:
        query = {
            **self.scope.query,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._life),
        }
        if self._position.phase is Phase.STREAMING:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        if self._version:
            query["resourceVersion"] = self._version
        return query

    def _take(self, line: bytes, run: _Run[K]) -> None:
        frame = parse(self.scope.kind, line)
        if isinstance(frame, ApiError):
            raise frame
        self.failing_since = None
        if isinstance(frame, Bookmark):
            self._bookmarked(frame, run)
        elif run.initial:
            self._take_initial(frame, run)
        else:
            self._take_live(frame)

    def _take_initial(self, frame: Changed[K] | Deleted[K] | Misfit, run: _Run[K]) -> None:
        # Events of the initial state come in the order of keys: no version to go on from yet.
        if isinstance(frame, Misfit):
            run.state.misfits.append(frame)
        elif isinstance(frame, Deleted):
            run.state.objects.pop(frame.obj.key, None)
        else:
            self._intern(frame.obj)
            run.state.objects[frame.obj.key] = frame.obj

    def _take_live(self, frame: Changed[K] | Deleted[K] | Misfit) -> None:
        if isinstance(frame, Misfit):
            self._version = frame.meta.resource_version or self._version
            self._sink.misfit(frame.error, frame.meta, deleted=frame.deleted)
            return
        self._version = frame.obj.metadata.resource_version
        if isinstance(frame, Deleted):
            self._sink.removed(frame.obj)
        else:
            self._intern(frame.obj)
            self._sink.upserted(frame.obj)

    def _bookmarked(self, bookmark: Bookmark, run: _Run[K]) -> None:
        now = monotonic()
        last = run.bookmark_at
        run.bookmark_at = now
        gap = now - last if last is not None else 0.0
        self._longest_gap = max(self._longest_gap or 0.0, gap)
        if run.initial and bookmark.initial:
            run.initial = False
            self._complete(run.state, bookmark.version)
            self._step(Outcome.DONE)
            run.state = State()
        elif not run.initial:
            self._version = bookmark.version

    def _collect(self, raw: msgspec.Raw, state: State[K]) -> None:
        try:
            obj = codec.decode(self.scope.kind, raw)
        except Undecodable as error:
            state.misfits.append(Misfit(error, codec.decode_meta(raw), deleted=False))
            return
        self._intern(obj)
        state.objects[obj.key] = obj

    def _complete(self, state: State[K], version: str) -> None:
        self._version = state.version = version
        self.failing_since = None
        self._sink.replaced(self.scope.namespace, state)

    def _alive(self) -> None:
        self.alive_at = monotonic()

    def _note(self, outcome: Outcome) -> None:
        if outcome is Outcome.DONE:
            return
        self._sink.restarted(outcome)
        if outcome in (Outcome.ENDED, Outcome.IDLE):
            log.debug("watch ended", kind=str(self.scope), reason=outcome.value)
            return
        if self.failing_since is None:
            self.failing_since = monotonic()
            log.warning("watch failed", kind=str(self.scope), why=self.last_failure)

    async def _pause(self, pause: Pause) -> None:
        waits = {
            Pause.NONE: lambda: 0.0,
            Pause.BACKOFF: self._backoff.next,
            Pause.LONGEST: self._backoff.longest,
        }
        seconds = max(waits[pause](), self._patience)
        self._patience = 0.0
        if seconds:
            await asyncio.sleep(seconds)


@dataclass(slots=True)
class _Run(Generic[K]):
    """What one stream has brought so far."""

    initial: bool
    state: State[K] = field(default_factory=State)
    events: int = 0
    bookmark_at: float | None = None


class _Nag:
    """Says every ten seconds that the initial state is still incomplete."""

    def __init__(self, scope: Scope[K], run: _Run[K]) -> None:
        self._scope, self._run = str(scope), run
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        if self._run.initial:
            self._timer = asyncio.get_running_loop().call_later(NAG_SECONDS, self._say)

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _say(self) -> None:
        if self._run.initial:
            log.warning(
                "waiting for the initial state",
                kind=self._scope,
                so_far=len(self._run.state.objects),
            )
            self._timer = asyncio.get_running_loop().call_later(NAG_SECONDS, self._say)


def _ending(run: _Run[K], lived: float, timeout: float) -> Outcome:
    if run.initial:
        return Outcome.ENDED if lived >= timeout - SHORT_SECONDS else Outcome.SHORT
    if lived < SHORT_SECONDS and not run.events:
        return Outcome.SHORT
    return Outcome.ENDED


def selector(pairs: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" if value else name for name, value in sorted(pairs.items()))
