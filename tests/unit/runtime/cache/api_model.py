"""A model of an API server with one kind, and of everything that may happen between it and a cache.

`ApiModel` is the server: it keeps the history of every key. `CacheRun` is a controller's view of
it: an informer that watches the selected ships, own writes whose answers come when the test says
so, a watch that delivers when the test says so, and the promises that must hold after each step.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import NamedTuple

from quintant.client.rest import Rest
from quintant.core.clock import Random, monotonic
from quintant.core.object import ObjectMeta, Request
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.cache.overlay import EXPIRY_SECONDS
from quintant.testing.loop import advance, settle
from unit.runtime.kinds import Ship, ship
from unit.runtime.scripted_transport import Asked, ScriptedTransport, bookmark, error, event

SELECTOR = {"fleet": "ours"}


class Moment(NamedTuple):
    """A key's state from a version on; None when it does not exist."""

    version: int
    obj: Ship | None


def selected(obj: Ship | None) -> bool:
    return obj is not None and obj.metadata.labels == SELECTOR


@dataclass
class ApiModel:
    """The server."""

    version: int = 0
    history: dict[Request, list[Moment]] = field(default_factory=dict)
    log: list[tuple[int, bytes]] = field(default_factory=list)
    """What a watch of the selected ships says, by version."""

    def get(self, key: Request) -> Ship | None:
        moments = self.history.get(key)
        return moments[-1].obj if moments else None

    def fleet(self) -> dict[Request, Ship]:
        """The selected ships."""
        found = {key: self.get(key) for key in self.history}
        return {key: obj for key, obj in found.items() if obj is not None and selected(obj)}

    def write(self, key: Request, *, ours: bool) -> Ship:
        """Create or change a ship."""
        old = self.get(key)
        uid = old.metadata.uid if old is not None else f"{key.name}-{self.version + 1}"
        labels = SELECTOR if ours else {}
        new = ship(key.name, str(self.version + 1), uid=uid, labels=labels)
        self._put(key, new)
        return new

    def delete(self, key: Request) -> None:
        """Delete a ship, if it is there."""
        if self.get(key) is not None:
            self._put(key, None)

    def absences(self, key: Request) -> list[int]:
        """The versions at which a key left the selection or ceased to exist."""
        return [moment.version for moment in self.history[key] if not selected(moment.obj)]

    def _put(self, key: Request, new: Ship | None) -> None:
        old = self.get(key)
        self.version += 1
        self.history.setdefault(key, []).append(Moment(self.version, new))
        if selected(new):
            self.log.append((self.version, event("MODIFIED" if selected(old) else "ADDED", new)))
        elif selected(old) and old is not None:
            last = ship(
                key.name, str(self.version), uid=old.metadata.uid, labels=old.metadata.labels
            )
            self.log.append((self.version, event("DELETED", last)))


class Answer(NamedTuple):
    """The answer to an own write: the ship as stored, or the metadata of the one deleted."""

    version: int
    """At which the server did it."""
    stored: Ship | None
    erased: ObjectMeta | None = None


@dataclass
class Ack:
    """An answer that has been processed, and when."""

    answer: Answer
    at: float


class CacheRun:
    """A cache of the selected ships, and everything that reaches it."""

    def __init__(self) -> None:
        self.model, self.server = ApiModel(), ScriptedTransport()
        self.informer: Informer[Ship] = Informer(
            Rest(self.server), Ship, random=Random(0), labels=SELECTOR
        )
        self.told: dict[Request, Ship] = {}
        self.answers: list[Answer] = []
        self.acks: dict[Request, list[Ack]] = {}
        self.progress = 0
        """Everything up to this version has been delivered by the watch."""
        self._pipe: list[tuple[int, tuple[bytes, ...]]] = []
        self._stream: Asked
        self.informer.subscribe(self._hear)
        self._task = asyncio.ensure_future(self.informer.run())

    async def begin(self) -> None:
        await self._open()
        await self.deliver(1)

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    # What happens on the server.

    def others_write(self, key: Request, ours: bool) -> None:
        self.model.write(key, ours=ours)

    def others_delete(self, key: Request) -> None:
        self.model.delete(key)

    # What we do; the answer is processed by `answer`.

    def wrote(self, key: Request, ours: bool) -> None:
        self.write(key, ours)
        self.answer(-1)

    def deleted(self, key: Request) -> None:
        under_way = len(self.answers)
        self.delete(key)
        if len(self.answers) > under_way:
            self.answer(-1)

    def write(self, key: Request, ours: bool) -> None:
        stored = self.model.write(key, ours=ours)
        self.answers.append(Answer(self.model.version, stored))

    def delete(self, key: Request) -> None:
        """Delete what we see, or what there is, with its uid as precondition."""
        known = self.informer.store.get(key) or self.model.get(key)
        if known is None:
            return
        there = self.model.get(key)
        if there is not None and there.metadata.uid != known.metadata.uid:
            return  # the server refuses
        self.model.delete(key)
        gone = max(moment.version for moment in self.model.history[key] if moment.obj is None)
        self.answers.append(Answer(gone, None, known.metadata))

    def answer(self, number: int) -> None:
        """One of our requests under way returns."""
        if not self.answers:
            return
        answer = self.answers.pop(number % len(self.answers))
        if answer.stored is not None:
            key = answer.stored.key
            self.informer.record_write(answer.stored)
        else:
            assert answer.erased is not None
            meta = answer.erased
            key = Request(meta.name, meta.namespace)
            self.informer.record_delete(key, meta.uid, meta.resource_version)
        self.acks.setdefault(key, []).append(Ack(answer, monotonic()))

    # What the watch does.

    async def deliver(self, count: int) -> None:
        """The watch brings some events."""
        self._refill()
        for version, lines in self._pipe[:count]:
            self._stream.say(*lines)
            await settle()
            self.progress = max(self.progress, version)
        del self._pipe[:count]

    async def interrupt(self) -> None:
        """The connection breaks; the watch goes on from where it was."""
        self._stream.cut()
        await self._open()

    async def compact(self) -> None:
        """The history is lost; the state is read anew."""
        self._stream.say(error(410))
        await self._open()

    async def pass_time(self, seconds: float) -> None:
        await advance(seconds)

    async def arrive(self) -> None:
        """Everything under way comes in."""
        while self.answers:
            self.answer(0)
        await self.deliver(len(self.model.log) + 1)

    # What must hold.

    def check(self) -> None:
        assert self._delivered() == self.told
        for key in self.model.history:
            seen = self.informer.store.get(key)
            self._check_real(key, seen)
            self._check_delivered(key, seen)
            for ack in self.acks.get(key, ()):
                if monotonic() < ack.at + EXPIRY_SECONDS:
                    self._check_own(key, seen, ack.answer)

    def check_arrived(self) -> None:
        """The cache is what the server has."""
        assert {obj.key: obj for obj in self.informer.store} == self.model.fleet() == self.told

    def _check_real(self, key: Request, seen: Ship | None) -> None:
        assert seen is None or seen in [moment.obj for moment in self.model.history[key]]

    def _check_delivered(self, key: Request, seen: Ship | None) -> None:
        """Nothing older than what the watch brought is seen."""
        told = self.told.get(key)
        if told is not None and seen is not None:
            assert _version(seen) >= _version(told)

    def _check_own(self, key: Request, seen: Ship | None, own: Answer) -> None:
        """What we did is not undone by something older."""
        if own.erased is not None:
            assert seen is None or seen.metadata.uid != own.erased.uid
        elif seen is not None:
            assert _version(seen) >= own.version
        else:
            known = [w for w in self.model.absences(key) if w <= self.progress]
            known += [
                ack.answer.version for ack in self.acks[key] if not selected(ack.answer.stored)
            ]
            assert not selected(own.stored) or any(w > own.version for w in known)

    def _delivered(self) -> dict[Request, Ship]:
        overlay, keys = self.informer.overlay, self.model.history
        found = {key: overlay.delivered(key) for key in keys}
        return {key: obj for key, obj in found.items() if obj is not None}

    # How it is done.

    async def _open(self) -> None:
        self._stream = await self.server.asked()
        self._stream.accept()
        query = self._stream.query
        if "sendInitialEvents" in query:
            state = [event("ADDED", obj) for obj in self.model.fleet().values()]
            end = bookmark(str(self.model.version), initial=True)
            self._pipe = [(self.model.version, (*state, end))]
            self._taken = self.model.version
        else:
            self._pipe = []
            self._taken = int(query["resourceVersion"])

    def _refill(self) -> None:
        """Events reach the stream when they are asked for, in their order."""
        for version, line in self.model.log:
            if version > self._taken:
                self._pipe.append((version, (line,)))
                self._taken = version

    def _hear(self, change: ObjectChange[Ship]) -> None:
        assert (change.old, change.new) != (None, None)
        if change.new is not None:
            assert self.told.get(change.new.key) == change.old
            assert change.old is None or change.old.metadata.uid == change.new.metadata.uid
            self.told[change.new.key] = change.new
        elif change.old is not None:
            before = self.told.pop(change.old.key)
            assert before.metadata.uid == change.old.metadata.uid


def _version(obj: Ship) -> int:
    return int(obj.metadata.resource_version)
