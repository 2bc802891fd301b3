"""GetResource, ListResource: one object, a list, a page of a list, and where a watch begins.

The store is one consistent state, so most of what resourceVersion can ask for has the same answer
here; what differs between the cases is what the answer says and which questions are refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from itertools import chain

from msgspec import Struct

from quintant.cluster.apiserver.codec.list_options import EXACT, ListOptions, resource_version_error
from quintant.cluster.apiserver.kinds.stored_json import ObjectEncoder
from quintant.cluster.apiserver.meta.continue_token import (
    NOW,
    ContinueToken,
    read_token,
    write_token,
)
from quintant.cluster.apiserver.meta.selector_parser import parse_fields, parse_labels
from quintant.cluster.apiserver.meta.selectors import Operator, Selector, SelectorRequirement
from quintant.cluster.apiserver.meta.status import (
    StatusError,
    bad_request,
    resource_expired,
    resource_version_too_large,
    unknown_error,
)
from quintant.cluster.apiserver.response.list_stream import LARGE, ListStream
from quintant.cluster.apiserver.storage.history import Compacted, StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table, View
from quintant.cluster.apiserver.watch.events import (
    END_OF_REPLAY,
    WatchEvent,
    WatchFilter,
    added_events,
    bookmark_event,
    error_event,
    missed_events,
)
from quintant.cluster.apiserver.watch.hub import WatchOptions
from quintant.core.clock import Random

SLICE = 500
"""Entries looked at between two turns of the loop, so that a large list stalls nobody."""
SHORT = 10
"""Requirements of a selector that are looked at in no time; fewer entries are if there are more."""
SLOW_SLICE = 50
"""Entries written between two turns: a row of a table takes a hundred times longer than a look."""
WATCH_SECONDS = (1800.0, 3600.0)
"""How long a watch lasts that does not say: at random, so that clients do not return together."""
_NAME = "metadata.name"
_TOO_OLD = "The resourceVersion for the provided list is too old."
_TOO_LATE = StatusError(500, "InternalError", "context deadline exceeded")
_LOST = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


def watch_filter(
    encoder: ObjectEncoder, namespace: str, name: str, query: Mapping[str, str]
) -> WatchFilter:
    """The objects of the form's kind that a path and a query ask for."""
    labels = parse_labels(query.get("labelSelector", ""))
    fields = parse_fields(query.get("fieldSelector", ""), encoder.kind.field_path)
    return WatchFilter(encoder, namespace, labels, _named(name, fields) if name else fields)


def _named(name: str, fields: Selector) -> Selector:
    """The selection of one name; a selector beside it may repeat that name and nothing else."""
    if fields and fields.exact(_NAME) != name:
        raise bad_request(f"fieldSelector {_NAME} doesn't match requested name")
    return fields or Selector((SelectorRequirement(_NAME, Operator.IN, frozenset({name})),))


class Reads:
    """The read path of every kind."""

    def __init__(self, store: RevisionStore, random: Random) -> None:
        self._store = store
        self._random = random

    def check_get(self, rv: str) -> None:
        """Refuse the resourceVersion of a GET that cannot be answered."""
        if why := resource_version_error(rv):
            raise unknown_error(why)
        self._check_future(int(rv or 0))

    async def list(self, selection: WatchFilter, query: ListOptions) -> bytes | ListStream:
        """A list: a document, written in slices, or a large one that is written as it is sent."""
        token = read_token(query.token) if query.token else None
        table = self._store.table(selection.encoder.kind.table)
        rv, view = self._view(table, query, token)
        start = f"{selection.prefix}{token.start}" if token else ""
        scanned = _scanned(view, selection, start)
        await selection.prepare(entry for _, entry in scanned)
        page = await _chosen(selection, scanned, 0 if query.rv == "0" else query.limit)
        token_after = write_token(rv, page.after) if page.after else ""
        metadata = list_metadata(selection.encoder, rv, token_after, page.rest)
        conversion = selection.encoder.kind.strategy.conversion
        if conversion.convert_for_read is not None:
            await conversion.convert_for_read(page.entries)
        if _large(selection.encoder, page.entries):
            return ListStream(selection.encoder, metadata, page.entries)
        return await _written(selection.encoder, metadata, page.entries)

    def watch_options(self, selection: WatchFilter, query: ListOptions) -> WatchOptions:
        """Where and how a watch begins; take it and open the watch without awaiting between."""
        table = self._store.table(selection.encoder.kind.table)
        seconds = query.seconds or self._random.uniform(*WATCH_SECONDS)
        if seconds < 0:
            return WatchOptions((error_event(_TOO_LATE),), seconds=0.0)
        try:
            replay = self._replay(table, selection, query)
        except Compacted as gone:
            text = f"too old resource version: {query.revision} ({gone.floor})"
            return WatchOptions((error_event(resource_expired(text)),), seconds=0.0)
        except StatusError as too_large:
            return WatchOptions((error_event(too_large),), seconds=0.0)
        return WatchOptions(replay, seconds, bookmarks=query.bookmarks)

    def _replay(
        self, table: Table, selection: WatchFilter, query: ListOptions
    ) -> Iterable[WatchEvent]:
        fresh = query.rv in ("", "0")
        if query.initial or (fresh and query.initial is None):
            self._check_future(query.revision)
            replay = added_events(selection, _scanned(table.now, selection))
            if not (query.initial and query.bookmarks):
                return replay
            mark = bookmark_event(selection.encoder, self._store.revision, END_OF_REPLAY)
            return chain(replay, (mark,))
        return () if fresh else missed_events(selection, table.history.since(query.revision))

    def _view(
        self, table: Table, query: ListOptions, token: ContinueToken | None
    ) -> tuple[int, View]:
        """Which state of a table a list shows, and the revision it says."""
        current = self._store.revision
        if token is not None:
            return self._continued(table, token)
        self._check_future(query.revision)
        exact = query.match == EXACT or (query.limit and not query.match and query.revision)
        if not exact:
            return current, table.now
        try:
            return query.revision, table.at(query.revision)
        except Compacted:
            raise resource_expired(_TOO_OLD) from None

    def _continued(self, table: Table, token: ContinueToken) -> tuple[int, View]:
        if token.rv < 0:
            return self._store.revision, table.now
        self._check_future(token.rv)
        try:
            return token.rv, table.at(token.rv)
        except Compacted:
            again = write_token(NOW, token.start)
            raise resource_expired(_LOST, token=again) from None

    def _check_future(self, rv: int) -> None:
        if rv > self._store.revision:
            raise resource_version_too_large(rv, self._store.revision)


class _Page(Struct, frozen=True):
    """Entries of a list, and what is known of those behind them."""

    entries: list[StoredEntry]
    after: str = ""
    """Where the next page begins, if there is one."""
    rest: int | None = None
    """How many more there are, if all are wanted."""


def _scanned(view: View, selection: WatchFilter, start: str = "") -> list[tuple[str, StoredEntry]]:
    """The entries to look at, in order; a named one is found without looking at others."""
    kind, name = selection.encoder.kind, selection.fields.exact("metadata.name")
    if name is None or start or (kind.resource.namespaced and not selection.namespace):
        return view.scan(selection.prefix, start)
    key = kind.key(selection.namespace, name)
    found = view.entries.get(key)
    return [(key, found)] if found is not None else []


async def _chosen(
    selection: WatchFilter, scanned: list[tuple[str, StoredEntry]], limit: int
) -> _Page:
    """What of the scanned entries is wanted, and fits."""
    everything = not (selection.labels or selection.fields)
    slice_ = max(1, SLICE // (1 + selection.length // SHORT))
    entries: list[StoredEntry] = []
    last = ""
    for at, (key, entry) in enumerate(scanned):
        if limit and len(entries) == limit:
            after = f"{last.removeprefix(selection.prefix)}\0"
            return _Page(entries, after, len(scanned) - at if everything else None)
        if everything or selection.matches(key, entry):
            entries.append(entry)
            last = key
        if at % slice_ == slice_ - 1:
            await asyncio.sleep(0)
    return _Page(entries)


def _large(encoder: ObjectEncoder, entries: list[StoredEntry]) -> bool:
    """Whether a list is worth being sent in pieces, and can be: nothing may fail half-way."""
    size = sum(len(entry.raw) for entry in entries)
    return size > LARGE and type(encoder) is ObjectEncoder and all(map(encoder.is_raw, entries))


async def _written(
    encoder: ObjectEncoder, metadata: dict[str, object], entries: list[StoredEntry]
) -> bytes:
    """A list document."""
    items: list[bytes] = []
    for at, entry in enumerate(entries):
        items.append(encoder.encode_item(entry))
        if at % SLOW_SLICE == SLOW_SLICE - 1:
            await asyncio.sleep(0)
    return encoder.encode_list(metadata, items)


def list_metadata(
    encoder: ObjectEncoder, rv: int, token: str = "", rest: int | None = None
) -> dict[str, object]:
    """What a list says about itself."""
    metadata: dict[str, object] = {"resourceVersion": str(rv)}
    if token or (encoder.kind.custom and not encoder.is_converted):
        metadata["continue"] = token
    if rest is not None:
        metadata["remainingItemCount"] = rest
    return metadata
