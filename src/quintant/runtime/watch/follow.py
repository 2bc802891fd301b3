"""A self-healing watch as an async iterator, for programs that are not controllers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from quintant.runtime.client.rest import Rest
from quintant.runtime.clock import Chance
from quintant.runtime.object import K
from quintant.runtime.watch.informer import Change, Informer
from quintant.runtime.watch.reflector import Scope


async def follow(rest: Rest, scope: Scope[K], chance: Chance) -> AsyncIterator[Change[K]]:
    """Yield what is there (as initial) and then every change; never ends by itself."""
    changes: asyncio.Queue[Change[K] | None] = asyncio.Queue()
    informer = Informer(
        rest,
        scope.kind,
        chance=chance,
        namespaces=(scope.namespace,) if scope.namespace else (),
        labels=scope.labels,
        fields=scope.fields,
    )
    informer.subscribe(changes.put_nowait)
    running = asyncio.ensure_future(informer.run())
    running.add_done_callback(lambda _: changes.put_nowait(None))
    try:
        while (change := await changes.get()) is not None:
            yield change
        running.result()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
