"""Reads: one object, a list, a page of a list, and where a watch begins.

The store is one consistent state, so most of what resourceVersion can ask for has the same answer
here; what differs between the cases is what the answer says and which questions are refused.
"""

from __future__ import annotations

import asyncio
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from posixpath import normpath
from typing import Any

import msgspec

from quintant.cluster import jsontext
from quintant.cluster.catalog import Kind
from quintant.cluster.causes import forbidden_field, unsupported
from quintant.cluster.golang import shown, unmarshalled
from quintant.cluster.listing import LARGE, Listing
from quintant.cluster.problems import (
    Problem,
    bad_request,
    expired,
    future,
    invalid_options,
    unexplained,
)
from quintant.cluster.ring import Compacted, Entry
from quintant.cluster.routes import flag
from quintant.cluster.selectors import parse_fields, parse_labels
from quintant.cluster.store import Store, Table, View
from quintant.cluster.watchers import (
    END_OF_REPLAY,
    Frame,
    Selection,
    Terms,
    added,
    bookmark,
    missed,
    refusal,
)
from quintant.cluster.wire import Form
from quintant.runtime.clock import Chance
from quintant.runtime.errors import Cause

SLICE = 500
"""Entries looked at between two turns of the loop, so that a large list stalls nobody."""
SLOW_SLICE = 50
"""Entries written between two turns: a row of a table takes a hundred times longer than a look."""
WATCH_SECONDS = (1800.0, 3600.0)
"""How long a watch lasts that does not say: at random, so that clients do not return together."""
EXACT = "Exact"
NOT_OLDER = "NotOlderThan"
NOW = -1
"""The revision in a continue token that goes on with the present state."""
_MATCH = "resourceVersionMatch"
_VERSION = "meta.k8s.io/v1"
_TOKEN: Mapping[str, tuple[type[Any], str]] = {
    "v": (str, "string"),
    "rv": (int, "int64"),
    "start": (str, "string"),
}
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_LARGEST = 2**64 - 1
_MOST_DIGITS = 20
_TOO_OLD = "The resourceVersion for the provided list is too old."
_TOO_LATE = Problem(500, "InternalError", "context deadline exceeded")
_LOST = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True)
class Query:
    """ListOptions, understood and checked."""

    rv: str = ""
    match: str = ""
    limit: int = 0
    token: str = ""
    initial: bool | None = None
    bookmarks: bool = False
    seconds: float = 0.0

    @property
    def revision(self) -> int:
        return int(self.rv or 0)


class _Token(msgspec.Struct):
    v: str
    rv: int
    start: str


def select(kind: Kind, form: Form, namespace: str, query: Mapping[str, str]) -> Selection:
    """The objects of a kind that a query asks for."""
    return Selection(
        form,
        namespace,
        parse_labels(query.get("labelSelector", "")),
        parse_fields(query.get("fieldSelector", ""), kind.field_path),
    )


def read_query(query: Mapping[str, str], *, watch: bool) -> Query:
    """ListOptions from a query; 400 or 422 where they contradict each other."""
    found = Query(
        rv=query.get("resourceVersion", ""),
        match=query.get("resourceVersionMatch", ""),
        limit=0 if watch else _number(query, "limit"),
        token="" if watch else query.get("continue", ""),
        initial=flag(query, "sendInitialEvents") if "sendInitialEvents" in query else None,
        bookmarks=flag(query, "allowWatchBookmarks"),
        seconds=_number(query, "timeoutSeconds"),
    )
    (_check_watch if watch else _check_list)(found)
    return found


class Reads:
    """The read path of every kind."""

    def __init__(self, store: Store, chance: Chance) -> None:
        self._store = store
        self._chance = chance

    def check_get(self, rv: str) -> None:
        """Refuse the resourceVersion of a GET that cannot be answered."""
        if why := _misread(rv):
            raise unexplained(why)
        self._check_future(int(rv or 0))

    async def list(self, selection: Selection, query: Query) -> bytes | Listing:
        """A list: a document, written in slices, or a large one that is written as it is sent."""
        token = _read_token(query.token) if query.token else None
        table = self._store.table(selection.form.kind.table)
        rv, view = self._view(table, query, token)
        start = f"{selection.prefix}{token.start}" if token else ""
        scanned = _scanned(view, selection, start)
        page = await _chosen(selection, scanned, 0 if query.rv == "0" else query.limit)
        token_after = _write_token(rv, page.after) if page.after else ""
        metadata = about(selection.form, rv, token_after, page.rest)
        if selection.form.kind.prime is not None:
            await selection.form.kind.prime(page.entries)
        if _large(selection.form, page.entries):
            return Listing(selection.form, metadata, page.entries)
        return await _written(selection.form, metadata, page.entries)

    def follow(self, selection: Selection, query: Query) -> Terms:
        """Where and how a watch begins; take it and open the watch without awaiting between."""
        table = self._store.table(selection.form.kind.table)
        seconds = query.seconds or self._chance.uniform(*WATCH_SECONDS)
        if seconds < 0:
            return Terms((refusal(_TOO_LATE),), seconds=0.0)
        try:
            replay = self._replay(table, selection, query)
        except Compacted as gone:
            text = f"too old resource version: {query.revision} ({gone.floor})"
            return Terms((refusal(expired(text)),), seconds=0.0)
        return Terms(replay, seconds, bookmarks=query.bookmarks)

    def _replay(self, table: Table, selection: Selection, query: Query) -> Iterable[Frame]:
        fresh = query.rv in ("", "0")
        if query.initial or (fresh and query.initial is None):
            replay = added(selection, _scanned(table.now, selection))
            if not (query.initial and query.bookmarks):
                return replay
            mark = bookmark(selection.form, self._store.revision, END_OF_REPLAY)
            return chain(replay, (mark,))
        return () if fresh else missed(selection, table.ring.since(query.revision))

    def _view(self, table: Table, query: Query, token: _Token | None) -> tuple[int, View]:
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
            raise expired(_TOO_OLD) from None

    def _continued(self, table: Table, token: _Token) -> tuple[int, View]:
        if token.rv < 0:
            return self._store.revision, table.now
        self._check_future(token.rv)
        try:
            return token.rv, table.at(token.rv)
        except Compacted:
            again = _write_token(NOW, token.start)
            raise expired(_LOST, token=again) from None

    def _check_future(self, rv: int) -> None:
        if rv > self._store.revision:
            raise future(rv, self._store.revision)


@dataclass(frozen=True, slots=True)
class _Page:
    """Entries of a list, and what is known of those behind them."""

    entries: list[Entry]
    after: str = ""
    """Where the next page begins, if there is one."""
    rest: int | None = None
    """How many more there are, if all are wanted."""


def _scanned(view: View, selection: Selection, start: str = "") -> list[tuple[str, Entry]]:
    """The entries to look at, in order; a named one is found without looking at others."""
    kind, name = selection.form.kind, selection.fields.exact("metadata.name")
    if name is None or start or (kind.resource.namespaced and not selection.namespace):
        return view.scan(selection.prefix, start)
    key = kind.key(selection.namespace, name)
    found = view.entries.get(key)
    return [(key, found)] if found is not None else []


async def _chosen(selection: Selection, scanned: list[tuple[str, Entry]], limit: int) -> _Page:
    """What of the scanned entries is wanted, and fits."""
    everything = not (selection.labels or selection.fields)
    entries: list[Entry] = []
    last = ""
    for at, (key, entry) in enumerate(scanned):
        if limit and len(entries) == limit:
            after = f"{last.removeprefix(selection.prefix)}\0"
            return _Page(entries, after, len(scanned) - at if everything else None)
        if everything or selection.matches(key, entry):
            entries.append(entry)
            last = key
        if at % SLICE == SLICE - 1:
            await asyncio.sleep(0)
    return _Page(entries)


def _large(form: Form, entries: list[Entry]) -> bool:
    """Whether a list is worth being sent in pieces, and can be: nothing may fail half-way."""
    size = sum(len(entry.raw) for entry in entries)
    return size > LARGE and type(form) is Form and all(map(form.quick, entries))


async def _written(form: Form, metadata: dict[str, object], entries: list[Entry]) -> bytes:
    """A list document."""
    items: list[bytes] = []
    for at, entry in enumerate(entries):
        items.append(form.item(entry))
        if at % SLOW_SLICE == SLOW_SLICE - 1:
            await asyncio.sleep(0)
    return form.document(metadata, items)


def about(form: Form, rv: int, token: str = "", rest: int | None = None) -> dict[str, object]:
    """What a list says about itself."""
    metadata: dict[str, object] = {"resourceVersion": str(rv)}
    if token or (form.kind.custom and not form.converted):
        metadata["continue"] = token
    if rest is not None:
        metadata["remainingItemCount"] = rest
    return metadata


def _read_token(text: str) -> _Token:
    try:
        return _token(_unfolded(text))
    except ValueError as error:
        raise bad_request(f"invalid continue token: continue key is not valid: {error}") from None


def _unfolded(text: str) -> bytes:
    strange = _STRANGE.search(text)
    if strange or len(text) % 4 == 1:
        at = strange.start() if strange else len(text) - 1
        raise ValueError(f"illegal base64 data at input byte {at}")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _token(raw: bytes) -> _Token:
    """ValueError if the token was not made here."""
    found = jsontext.decode(raw)
    if not isinstance(found, dict):
        raise ValueError(unmarshalled(found, "value of type storage.continueToken"))
    for name, (wanted, sort) in _TOKEN.items():
        value = found.setdefault(name, wanted())
        if type(value) is not wanted:
            what = f"struct field continueToken.{name} of type {sort}"
            raise ValueError(unmarshalled(value, what))
    if found["v"] != _VERSION:
        raise ValueError(f"server does not recognize this encoded version {found['v']}")
    if not found["rv"]:
        raise ValueError(f"incorrect encoded start resourceVersion (version {_VERSION})")
    if not found["start"]:
        raise ValueError(f"encoded start key empty (version {_VERSION})")
    if normpath(f"/{found['start']}") != f"/{found['start']}":
        raise ValueError(found["start"])
    return _Token(found["v"], found["rv"], found["start"])


def _write_token(rv: int, start: str) -> str:
    raw = msgspec.json.encode(_Token(_VERSION, rv, start))
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _number(query: Mapping[str, str], name: str) -> int:
    text = query.get(name, "0")
    if not _WHOLE.fullmatch(text):
        raise bad_request(f"strconv.ParseInt: parsing {shown(text)}: invalid syntax")
    if len(text) > _MOST_DIGITS or not -_LARGEST <= 2 * int(text) <= _LARGEST:
        raise bad_request(f"strconv.ParseInt: parsing {shown(text)}: value out of range")
    return int(text)


def _check_list(query: Query) -> None:
    causes = list(_match_causes(query)) if query.match else []
    if query.initial is not None:
        text = "sendInitialEvents is forbidden for list"
        causes.append(forbidden_field("sendInitialEvents", text))
    if causes:
        raise invalid_options("ListOptions", *causes)
    if query.token and _read_token(query.token) and query.rv not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")
    if why := _misread(query.rv):
        raise bad_request(f"invalid resource version: {why}")


def _match_causes(query: Query) -> Iterator[Cause]:
    forbid = partial(forbidden_field, _MATCH)
    if not query.rv:
        yield forbid("resourceVersionMatch is forbidden unless resourceVersion is provided")
    if query.token:
        yield forbid("resourceVersionMatch is forbidden when continue is provided")
    if query.match not in (EXACT, NOT_OLDER):
        yield unsupported(_MATCH, query.match, [EXACT, NOT_OLDER, ""])
    if query.match == EXACT and query.rv == "0":
        yield forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')


def _check_watch(query: Query) -> None:
    causes = list(_watch_causes(query))
    if causes:
        raise invalid_options("ListOptions", *causes)
    if why := _misread(query.rv):
        raise unexplained(why)


def _watch_causes(query: Query) -> Iterator[Cause]:
    forbid = partial(forbidden_field, _MATCH)
    if query.initial is not None and query.match != NOT_OLDER:
        yield forbid(f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER}")
    if query.match and query.initial is None:
        yield forbid(
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        )
    if query.match and query.match != NOT_OLDER:
        yield unsupported(_MATCH, query.match, [NOT_OLDER])


def _misread(rv: str) -> str:
    """What Go says of a revision that is none; nothing if it is one, or absent."""
    if not rv:
        return ""
    digits = rv.isascii() and rv.isdigit()
    # Shorter than anything that takes long to read.
    if digits and len(rv) <= _MOST_DIGITS and int(rv) <= _LARGEST:
        return ""
    said = shown(rv)
    why = "value out of range" if digits else "invalid syntax"
    return f"resourceVersion: Invalid value: {said}: strconv.ParseUint: parsing {said}: {why}"
