"""Self-healing watches for programs that are not controllers: an iterator, and a wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.core.object import K
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.watch.scope import WatchScope


async def watch_changes(
    rest: Rest, scope: WatchScope[K], random: Random
) -> AsyncIterator[ObjectChange[K]]:
    """Yield what is there (as initial) and then every change; never ends by itself."""
    changes: asyncio.Queue[ObjectChange[K]] = asyncio.Queue()
    informer = _informer(rest, scope, random)
    informer.subscribe(changes.put_nowait)
    async with _running(informer):
        while True:
            yield await changes.get()


async def wait_for_state(
    rest: Rest, scope: WatchScope[K], random: Random, until: Callable[[K | None], bool]
) -> K | None:
    """Follow the one object that `scope` selects, until a condition holds of it or its absence."""
    reached: asyncio.Future[K | None] = asyncio.get_running_loop().create_future()

    def look(obj: K | None) -> None:
        if reached.done():
            return
        try:
            if until(obj):
                reached.set_result(obj)
        except Exception as error:
            # The condition is the caller's: its error belongs to the caller, not to the watch.
            reached.set_exception(error)

    informer = _informer(rest, scope, random)
    informer.subscribe(lambda change: look(change.new))
    async with _running(informer):
        await informer.wait_synced()
        if not len(informer.store):
            look(None)
        return await reached


def _informer(rest: Rest, scope: WatchScope[K], random: Random) -> Informer[K]:
    return Informer(
        rest,
        scope.kind,
        random=random,
        namespaces=(scope.namespace,) if scope.namespace else (),
        labels=scope.labels,
        fields=scope.fields,
    )


@asynccontextmanager
async def _running(informer: Informer[K]) -> AsyncIterator[None]:
    task = asyncio.ensure_future(informer.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
