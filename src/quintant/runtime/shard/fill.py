"""Waiting until the caches have everything that was written before a range was taken.

The holder before may have written in its last moment, and a watch may be behind. So each kind is
read from the server once, names and versions only, by a read that begins after the range was taken,
and work begins when the caches have come so far. A watch that is silent for a minute has no version
to compare: hence object by object.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from quintant.client.rest import PAGE_SIZE, Rest
from quintant.core import codec
from quintant.core.clock import Random
from quintant.core.errors import NotFound, QuintantError
from quintant.core.object import Metadata, Object, ObjectMeta, Request
from quintant.runtime.cache.informer import Informer
from quintant.runtime.cache.overlay import version_reached
from quintant.runtime.cache.partial.partial_informer import PartialInformer
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.watch.scope import WatchScope

LOOK_SECONDS = 0.05
"""Between two looks at a cache that is behind: it is by milliseconds, as a rule."""
FIRST_SECONDS, LONGEST_SECONDS = 0.2, 5.0
"""Between two tries of a read that fails, doubling."""

log: Final = get_logger()


async def fill_caches(rest: Rest, informers: Iterable[Informer[Any]], random: Random) -> None:
    """Return when every cache has what the server has at a moment after the call."""
    async with asyncio.TaskGroup() as group:
        for informer in informers:
            if isinstance(informer, PartialInformer) and not informer.whole:
                # It has not seen what became ours: all of it is read, at once with what is news.
                group.create_task(informer.read_anew())
                continue
            for namespace in informer.namespaces:
                group.create_task(_fill(rest, informer, namespace, random))


async def _fill(rest: Rest, informer: Informer[Any], namespace: str, random: Random) -> None:
    pause = FIRST_SECONDS
    while True:
        try:
            read = await _read(rest, informer, namespace)
            break
        except NotFound:
            if informer.absent:
                return
        except QuintantError as error:
            log.debug("cannot fill a cache", kind=informer.resource.kind, why=str(error))
        await asyncio.sleep(random.jitter(pause, 0.2))
        pause = min(2 * pause, LONGEST_SECONDS)
    cached = {key for key in informer.store.list_keys() if _within(namespace, key)}
    behind = cached | read.versions.keys()
    # Watches and our own writes bring it, each in its own way.
    while behind := {k for k in behind if not read.is_reached(informer, k)}:  # noqa: ASYNC110
        await asyncio.sleep(LOOK_SECONDS)


class _Read(Struct):
    """What a consistent read said: its own version, and that of every object."""

    version: str
    versions: dict[Request, str]

    def is_reached(self, informer: Informer[Any], key: Request) -> bool:
        """Whether the cache knows of an object at least what the read said."""
        meta, wanted = _known(informer, key), self.versions.get(key)
        if wanted is None:
            # The read did not have it: it was made later, or its end is still to be told.
            return meta is None or version_reached(meta.resource_version, self.version)
        if meta is None:
            # Not told yet; or deleted since, if the watch has come so far.
            return all(version_reached(each.version, wanted) for each in informer.reflectors)
        return version_reached(meta.resource_version, wanted)


async def _read(rest: Rest, informer: Informer[Any], namespace: str) -> _Read:
    """The version of every object that the informer follows, by a consistent read."""
    kind = informer.kind
    view: type[Object] = kind
    if not informer.resource.metadata_only:
        view = Metadata[kind]  # type: ignore[valid-type]
    scope = WatchScope(kind, namespace, informer.labels, informer.fields)
    versions: dict[Request, str] = {}
    version, more = "", dict[str, str]()
    while True:
        query = {**scope.query, "limit": str(PAGE_SIZE), **more}
        page = await rest.list_page(view, namespace, query)
        for raw in page.items or ():
            meta = codec.decode_meta(raw)
            versions[Request(meta.name, meta.namespace)] = meta.resource_version
        version = version or page.metadata.resource_version
        if not (token := page.metadata.continue_token):
            return _Read(version, versions)
        more = {"continue": token}


def _known(informer: Informer[Any], key: Request) -> ObjectMeta | None:
    obj, unfit = informer.store.get(key), informer.undecodable.get(key)
    if obj is not None:
        meta: ObjectMeta = obj.metadata
        return meta
    return unfit.meta if unfit is not None else None


def _within(namespace: str, key: Request) -> bool:
    return not namespace or key.namespace == namespace
