"""`/debug`: what a process is at, for who may ask: tasks, queues, caches, and where its time goes.

Nothing here changes anything, holds values of objects, or costs anything before it is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol
from urllib.parse import parse_qs

import msgspec

from quintant.core.errors import ConfigError
from quintant.core.resource import Resource
from quintant.http.request import Request
from quintant.http.response import Response, text_response
from quintant.http.routes import NOT_FOUND
from quintant.runtime.observe.collectors import QueueView
from quintant.runtime.observe.memory import estimated_bytes
from quintant.runtime.observe.profile import profile_loop

PROFILE_SECONDS = 10.0
LONGEST_SECONDS = 60.0
MOST_TASKS = 1_000
"""Shown at once; of more, only how many there are."""
FRAMES = 8
"""Of a task's stack, the innermost."""


class HeldObjects(Protocol):
    """The objects of a cache."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[object]: ...


class MeasuredCache(Protocol):
    """A cache that is measured."""

    @property
    def resource(self) -> Resource: ...
    @property
    def store(self) -> HeldObjects: ...


class DebugPages:
    """The pages below /debug."""

    def __init__(self, queues: Mapping[str, QueueView], caches: Iterable[MeasuredCache]) -> None:
        self._queues, self._caches = queues, caches
        self._profiling = False

    async def show(self, request: Request, below: str) -> Response:
        """The page of a name; the list of names without one."""
        match below:
            case "":
                return text_response("tasks\nqueues\ncaches\nprofile?seconds=10")
            case "tasks":
                return text_response("\n".join(task_lines(asyncio.all_tasks())))
            case "queues":
                return _json({name: _queue(queue) for name, queue in self._queues.items()})
            case "caches":
                return _json([await _cache(each) for each in self._caches])
            case "profile":
                return await self._profile(request.query)
            case _:
                return NOT_FOUND

    async def _profile(self, query: str) -> Response:
        seconds = _seconds(parse_qs(query).get("seconds", [""])[-1])
        if seconds is None:
            return text_response(f"seconds is a number up to {LONGEST_SECONDS:g}", 400)
        if self._profiling:
            return text_response("a profile is being taken; come again", 429)
        self._profiling = True
        try:
            return text_response((await profile_loop(seconds)).text())
        except ConfigError as error:
            return text_response(str(error), 501)
        finally:
            self._profiling = False


def task_lines(tasks: Iterable[asyncio.Task[Any]]) -> Iterable[str]:
    """Every task and where it waits, by name; without any values."""
    found = sorted(tasks, key=lambda task: task.get_name())
    yield f"{len(found)} tasks"
    for task in found[:MOST_TASKS]:
        yield f"{task.get_name()} {getattr(task.get_coro(), '__qualname__', '?')}"
        for frame in task.get_stack(limit=FRAMES):
            module = frame.f_globals.get("__name__", "?")
            yield f"  {module}.{frame.f_code.co_qualname}:{frame.f_lineno}"


def _queue(queue: QueueView) -> dict[str, Any]:
    return {
        "ready": {str(priority): keys for priority, keys in queue.depths().items()},
        "unfinishedSeconds": round(queue.unfinished_seconds(), 3),
        "longestSeconds": round(queue.longest_running_seconds(), 3),
    }


async def _cache(cache: MeasuredCache) -> dict[str, Any]:
    await asyncio.sleep(0)  # one kind at a time: others have their turn between two
    count = len(cache.store)
    found = {"kind": cache.resource.full_name, "objects": count}
    return {**found, "bytes": estimated_bytes(cache.store, count)}


def _seconds(text: str) -> float | None:
    if not text:
        return PROFILE_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 < seconds <= LONGEST_SECONDS else None


def _json(document: Any) -> Response:
    return Response(200, {"content-type": "application/json"}, msgspec.json.encode(document))
