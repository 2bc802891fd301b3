"""What changed, bounded in bytes and per object."""

from __future__ import annotations

import msgspec

from quintant.console.history import MOST_BYTES, MOST_PER_OBJECT, ObjectHistory
from quintant.console.views import ConsoleObject, console_kind, view_object
from quintant.core.clock import SystemClock
from quintant.core.resource import Resource
from quintant.runtime.cache.informer import ObjectChange

GADGETS = Resource("strangers.dev", "v1", "Gadget", "gadgets")
KIND = console_kind(GADGETS)


def gadget(uid: str, version: int, value: str) -> ConsoleObject:
    meta = {"name": uid, "namespace": "default", "uid": uid, "resourceVersion": str(version)}
    raw = msgspec.json.encode({"metadata": meta, "spec": {"value": value}})
    return view_object(KIND, msgspec.json.decode(raw, type=dict[str, msgspec.Raw]))


def test_the_past_is_shorter_where_much_changes_and_its_bytes_are_bounded() -> None:
    history = ObjectHistory(SystemClock())
    last = {f"u{at}": gadget(f"u{at}", 0, "") for at in range(200)}
    for version in range(1, 151):
        for uid, old in last.items():
            last[uid] = gadget(uid, version, f"{version:0200}")
            history.record(GADGETS, ObjectChange(old, last[uid]))
    kept = list(history)
    assert 0 < sum(each.size for each in kept) <= MOST_BYTES
    assert len(kept) < 200 * 150
    assert kept[-1].new.endswith("150")
    assert [each.new for each in history.of("u7")][-1].endswith("150")
    assert sum(len(history.of(uid)) for uid in last) == len(kept)


def test_one_object_that_changes_without_end_keeps_its_last_changes() -> None:
    history, old = ObjectHistory(SystemClock()), gadget("u", 0, "0")
    for version in range(1, 2 * MOST_PER_OBJECT):
        new = gadget("u", version, str(version))
        history.record(GADGETS, ObjectChange(old, new))
        old = new
    mine = history.of("u")
    assert len(mine) == MOST_PER_OBJECT
    assert (mine[-1].field, mine[-1].new) == (".spec.value", str(2 * MOST_PER_OBJECT - 1))


def test_what_was_there_before_the_console_is_no_change() -> None:
    history = ObjectHistory(SystemClock())
    history.record(GADGETS, ObjectChange(None, gadget("u", 1, "a"), initial=True))
    assert list(history) == []
