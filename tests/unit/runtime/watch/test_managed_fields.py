"""Promises of quintant.runtime.watch.managed_fields."""

from __future__ import annotations

import json
from typing import Any

from quintant.core.codec import to_plain
from quintant.core.object import Object, OwnerReference, Request
from quintant.runtime.watch.managed_fields import FieldManagers, ManagedFieldsStore
from unit.runtime.kinds import Ship, ship

FIELDS: dict[str, Any] = {"f:spec": {"f:port": {}}}


def entry(manager: str = "us", **more: Any) -> dict[str, Any]:
    plain = {"manager": manager, "operation": "Apply", "apiVersion": "sea.example.com/v1"}
    return {**plain, "fieldsType": "FieldsV1", "fieldsV1": FIELDS, **more}


def told(obj: Object, *entries: dict[str, Any]) -> bytes:
    plain = to_plain(obj)
    version = plain["apiVersion"]
    managed = [{**each, "apiVersion": each.get("as", version)} for each in entries]
    plain["metadata"]["managedFields"] = managed
    return json.dumps(plain, separators=(",", ":")).encode()


def line(obj: Object, *entries: dict[str, Any]) -> bytes:
    return b'{"type":"ADDED","object":%s}' % told(obj, *entries)


class Cached:
    """A cache, and what it remembers of managedFields."""

    def __init__(self) -> None:
        managers = FieldManagers()
        managers.add("us")
        self.known: set[Request] = set()
        self.store = ManagedFieldsStore(Ship, managers, self._get)

    def take(self, obj: Object, manager: str = "us", sub: str = "") -> Any:
        fields = self.store.take(obj, manager, sub)
        return None if fields is None else json.loads(fields)

    def _get(self, key: Request) -> object | None:
        return key if key in self.known else None


def test_what_we_applied_is_told_once() -> None:
    cached, obj = Cached(), ship("a", "5")
    cached.store.record_object(obj, told(obj, entry("kubectl"), entry()))

    assert cached.take(obj) == FIELDS
    assert cached.take(obj) is None
    assert len(cached.store) == 0


def test_a_watch_tells_it_as_a_list_does() -> None:
    cached, obj = Cached(), ship("a", "5")
    cached.store.record_event(obj, line(obj, entry()))

    assert cached.take(obj) == FIELDS


def test_a_status_is_told_apart() -> None:
    cached, obj = Cached(), ship("a", "5")
    status: dict[str, Any] = {"f:status": {"f:afloat": {}}}
    entries = entry(), entry(subresource="status", fieldsV1=status)
    cached.store.record_object(obj, told(obj, *entries))

    assert cached.take(obj, sub="status") == status
    assert cached.take(obj) == FIELDS


def test_entries_of_others_updates_and_other_versions_are_not_kept() -> None:
    cached, obj = Cached(), ship("a", "5")
    others = entry("them"), entry(operation="Update"), entry(**{"as": "sea.example.com/v0"})
    cached.store.record_object(obj, told(obj, *others))

    assert len(cached.store) == 0


def test_what_was_said_of_another_version_or_namesake_does_not_count() -> None:
    cached, obj = Cached(), ship("a", "5")
    cached.store.record_object(obj, told(obj, entry()))

    assert cached.take(ship("a", "5", uid="other")) is None
    assert cached.take(ship("a", "6")) is None


def test_of_objects_that_the_cache_has_nothing_is_kept() -> None:
    cached, obj = Cached(), ship("a", "5")
    cached.known.add(obj.key)
    cached.store.record_event(obj, line(obj, entry()))

    assert len(cached.store) == 0


def test_what_is_kept_follows_the_watch_until_it_is_asked_for() -> None:
    cached, old, new = Cached(), ship("a", "5"), ship("a", "6")
    cached.store.record_event(old, line(old, entry()))
    cached.known.add(old.key)
    cached.store.record_event(new, line(new, entry()))
    assert cached.take(new) == FIELDS

    cached.known.clear()
    cached.store.record_event(old, line(old, entry()))
    cached.store.record_event(new, line(new, entry("them")))
    assert cached.take(new) is None


def test_children_of_many_owners_share_what_is_kept() -> None:
    cached = Cached()
    kept = set()
    for number in range(100):
        owner = OwnerReference(uid=f"owner-{number}")
        obj = ship(f"a{number}", "5", uid=f"u{number}", owner_references=(owner,))
        refs: dict[str, Any] = {f'k:{{"uid":"{owner.uid}"}}': {"f:kind": {}}}
        owned = entry(fieldsV1={"f:metadata": {"f:ownerReferences": refs}})
        cached.store.record_object(obj, told(obj, owned))
        kept.add(id(cached.store.take(obj, "us", "")))

    assert len(kept) == 1


def test_what_is_gone_is_forgotten() -> None:
    cached, obj = Cached(), ship("a", "5")
    cached.store.record_object(obj, told(obj, entry()))

    cached.store.forget(obj.metadata.uid)

    assert len(cached.store) == 0


def test_managed_fields_that_make_no_sense_are_nobodys() -> None:
    cached, obj = Cached(), ship("a", "5")
    cached.store.record_object(obj, b'{"metadata":{"managedFields":"us", "x":"\\"us\\""}}')
    cached.store.record_object(obj, b'{"metadata":{"managedFields":["us"]}}')

    assert len(cached.store) == 0
