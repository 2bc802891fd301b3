"""ListOptions: the query of a list or a watch, parsed and checked.

Numbers are read as Go reads them, and what contradicts itself is refused in a real server's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from msgspec import Struct

from quintant.cluster.apiserver.golang.printing import shown
from quintant.cluster.apiserver.meta.continue_token import read_token
from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid_options,
    not_supported,
)
from quintant.cluster.apiserver.meta.request_info import flag
from quintant.cluster.apiserver.meta.status import bad_request, unknown_error
from quintant.core.errors import Cause

EXACT = "Exact"
NOT_OLDER = "NotOlderThan"
_MATCH = "resourceVersionMatch"
_WHOLE = re.compile(r"[+-]?[0-9]+")
_LARGEST = 2**64 - 1
_MOST_DIGITS = 20


class ListOptions(Struct, frozen=True):
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


def read_list_options(query: Mapping[str, str], *, watch: bool) -> ListOptions:
    """ListOptions from a query; 400 or 422 where they contradict each other."""
    found = ListOptions(
        rv=query.get("resourceVersion", ""),
        match=query.get("resourceVersionMatch", ""),
        limit=whole_number(query, "limit"),
        token=query.get("continue", ""),
        initial=flag(query, "sendInitialEvents") if "sendInitialEvents" in query else None,
        bookmarks=flag(query, "allowWatchBookmarks"),
        seconds=whole_number(query, "timeoutSeconds"),
    )
    (_check_watch if watch else _check_list)(found)
    return found


def resource_version_error(rv: str) -> str:
    """What Go says of a revision that is none; nothing if it is one, or absent."""
    if not rv:
        return ""
    digits = rv.isascii() and rv.isdigit()
    # Shorter than anything that takes long to read.
    if digits and len(rv) <= _MOST_DIGITS and int(rv) <= _LARGEST:
        return ""
    text = shown(rv)
    why = "value out of range" if digits else "invalid syntax"
    return f"resourceVersion: Invalid value: {text}: strconv.ParseUint: parsing {text}: {why}"


def whole_number(query: Mapping[str, str], name: str) -> int:
    """A whole number in a query, 0 if it is not there; 400 if it is none."""
    text = query.get(name, "0")
    if not _WHOLE.fullmatch(text):
        raise bad_request(f"strconv.ParseInt: parsing {shown(text)}: invalid syntax")
    if len(text) > _MOST_DIGITS or not -_LARGEST <= 2 * int(text) <= _LARGEST:
        raise bad_request(f"strconv.ParseInt: parsing {shown(text)}: value out of range")
    return int(text)


def _check_list(query: ListOptions) -> None:
    causes = list(_match_causes(query)) if query.match else []
    if query.initial is not None:
        text = "sendInitialEvents is forbidden for list"
        causes.append(forbidden("sendInitialEvents", text))
    if causes:
        raise invalid_options("ListOptions", *causes)
    if query.token and read_token(query.token) and query.rv not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")
    if why := resource_version_error(query.rv):
        raise bad_request(f"invalid resource version: {why}")


def _match_causes(query: ListOptions) -> Iterator[Cause]:
    forbid = partial(forbidden, _MATCH)
    if not query.rv:
        yield forbid("resourceVersionMatch is forbidden unless resourceVersion is provided")
    if query.token:
        yield forbid("resourceVersionMatch is forbidden when continue is provided")
    if query.match not in (EXACT, NOT_OLDER):
        yield not_supported(_MATCH, query.match, [EXACT, NOT_OLDER, ""])
    if query.match == EXACT and query.rv == "0":
        yield forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')


def _check_watch(query: ListOptions) -> None:
    causes = list(_watch_causes(query))
    if causes:
        raise invalid_options("ListOptions", *causes)
    if why := resource_version_error(query.rv):
        raise unknown_error(why)


def _watch_causes(query: ListOptions) -> Iterator[Cause]:
    forbid = partial(forbidden, _MATCH)
    if query.initial is not None and query.match != NOT_OLDER:
        yield forbid(f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER}")
    if query.match and query.initial is None:
        yield forbid(
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        )
    if query.token and (query.initial or query.rv in ("", "0")):
        # Such a watch begins with a list, which says how it matches by itself.
        yield forbid("resourceVersionMatch is forbidden when continue is provided")
    if query.match and query.match != NOT_OLDER:
        yield not_supported(_MATCH, query.match, [NOT_OLDER])
