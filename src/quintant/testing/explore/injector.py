"""Strikes at the chosen points, and numbers all of them on the way.

Every run passes here, the undisturbed one with no fault to make. A fault is made when its point is
reached, once; what has to be ended later, when the world has become quiet, waits in `stages`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from quintant.client.request_info import ResourcePath, resource_path, verb_of
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.core.errors import ConnectError, DeadlineExceeded
from quintant.testing.explore.fault import EXPLANATIONS, FaultMode, PlannedFault
from quintant.testing.explore.process import ManagerProcess, WatchedEvent
from quintant.testing.explore.remote import RemoteModel, outlive
from quintant.testing.explore.trace import Point, PointKind, Trace
from quintant.testing.faults.rule import status_answer

T = TypeVar("T")

# What a request may take if it has no limit of its own, as over the network.
LIMIT_SECONDS = 60.0
# What a server that throttles asks for.
RETRY_AFTER_SECONDS = 1


class Injector:
    """Numbers points, and makes faults at those that were chosen."""

    def __init__(self, faults: Iterable[PlannedFault], trace: Trace) -> None:
        self._waiting = {(each.kind, each.index): each.mode for each in faults}
        self._trace = trace
        self.calls: set[asyncio.Task[Any]] = set()
        """Calls of remotes that go on."""

    @property
    def unreached(self) -> list[str]:
        """The points that were chosen and never came."""
        return [f"{kind}{index}" for kind, index in self._waiting]

    async def write(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse:
        """A write to the API."""
        at = resource_path(call.path)
        point = self._trace.point(PointKind.WRITE, write_text(call, at), subject=_subject(at))
        mode = self._struck(point)
        if mode is None:
            return await process.inner.request(call)
        if mode is FaultMode.CRASH_BEFORE:
            process.kill()
        elif mode is FaultMode.TIMEOUT:
            await asyncio.sleep(call.timeout or LIMIT_SECONDS)
            raise DeadlineExceeded(f"{call}: no answer in time (injected)")
        elif mode not in (FaultMode.CRASH_AFTER, FaultMode.LOST):
            pause = RETRY_AFTER_SECONDS if mode is FaultMode.THROTTLED else None
            return status_answer(int(mode), "injected", pause)
        process.check()
        reply = await process.inner.request(call)
        if mode is FaultMode.LOST:
            raise ConnectError(f"{call}: the answer was lost (injected)")
        process.kill()
        return reply

    async def call(
        self,
        process: ManagerProcess,
        model: RemoteModel,
        text: str,
        work: Callable[[], Coroutine[Any, Any, T]],
    ) -> T:
        """A call of a remote."""
        point = self._trace.point(PointKind.CALL, text, remote=model.name)
        mode = self._struck(point)
        if mode is None:
            return await outlive(work(), self.calls)
        if mode is FaultMode.CRASH_BEFORE:
            process.kill()
            process.check()
        if mode not in (FaultMode.CRASH_AFTER, FaultMode.LOST):
            raise model.failure(mode)
        answer = await outlive(work(), self.calls)
        if mode is FaultMode.LOST:
            raise model.failure(mode)
        process.kill()
        return answer

    async def deliver(self, process: ManagerProcess, at: ResourcePath, event: WatchedEvent) -> None:
        """An event on its way to a cache."""
        meta, plural = event.object.metadata, _plural(at)
        self._trace.point(
            PointKind.EVENT,
            f"{event.type} {plural} {meta.key}",
            subject=f"{plural} {meta.key}",
            revision=int(meta.resource_version),
        )

    def _struck(self, point: Point) -> FaultMode | None:
        mode = self._waiting.pop((point.kind, point.index), None)
        if mode is not None:
            told = EXPLANATIONS[mode]
            self._trace.tell(f"! {mode} at {point.kind}{point.index}: {told}")
        return mode


def write_text(call: ApiRequest, at: ResourcePath) -> str:
    """A write as a person reads it; never what is in it."""
    plural = f"{_plural(at)}/{at.sub}" if at.sub else _plural(at)
    return f"{verb_of(call)} {plural} {_key(at)}".rstrip()


def _subject(at: ResourcePath) -> str:
    return f"{_plural(at)} {_key(at)}"


def _plural(at: ResourcePath) -> str:
    return f"{at.plural}.{at.group}" if at.group else at.plural


def _key(at: ResourcePath) -> str:
    return f"{at.namespace}/{at.name}" if at.namespace else at.name
