"""Objects by their targets, past every rule."""

from __future__ import annotations

import pytest

from quintant.cluster.apiserver.handlers.store import OBJECT_LIMIT, ObjectStore
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from testbeds.call_counter import counted_calls
from unit.cluster.api import config_map

KIND = next(kind for kind in builtin_kinds() if kind.resource.plural == "configmaps")


def target(name: str, namespace: str = "default") -> ObjectRef:
    return ObjectRef(KIND, namespace, name)


def stored(*names: str) -> ObjectStore:
    found = ObjectStore(RevisionStore(now=lambda: 0.0))
    for name in names:
        found.put(target(name), config_map(name))
    return found


def test_what_is_put_is_found_until_it_is_removed() -> None:
    found = stored("a")
    entry = found.get(target("a"))
    assert stored_json.unpack(KIND, entry)["metadata"]["name"] == "a"
    assert entry.rv == found.revision
    assert found.remove(target("a")) == found.revision == entry.rv + 1
    assert found.read(target("a")) is None


@pytest.mark.parametrize(("name", "code"), [("a", 404), ("a/b", 400), ("..", 400)])
def test_what_is_not_there_is_told_apart_from_what_cannot_be(name: str, code: int) -> None:
    with pytest.raises(StatusError) as refused:
        stored().get(target(name))
    assert refused.value.code == code


def test_others_are_all_but_the_one_itself_as_they_are_now() -> None:
    def seen() -> dict[str, JsonObject]:
        return {obj["metadata"]["name"]: obj for obj in found.others(target("a"))}

    found = stored("a", "b", "c", "d")
    before = seen()
    found.put(target("b"), config_map("b") | {"data": {"k": "v"}})
    found.remove(target("c"))
    assert before.keys() == {"b", "c", "d"}
    assert {name: obj.get("data") for name, obj in seen().items()} == {
        "b": {"k": "v"},
        "d": before["d"].get("data"),
    }


def test_others_that_did_not_change_are_not_decoded_again() -> None:
    found = stored(*(f"c{at}" for at in range(200)))
    with counted_calls() as first:
        list(found.others(target("c0")))
    found.put(target("c1"), config_map("c1"))
    with counted_calls() as again:
        list(found.others(target("c0")))
    # Each costs a look at what is known of it; reading it takes several calls more.
    assert again.calls < 3 * 200 < first.calls


def test_an_edit_that_changes_nothing_is_no_write() -> None:
    found = stored("a")
    before = found.revision
    assert found.update_raw(target("a"), lambda obj: obj).rv == before
    assert found.update_raw(target("a"), lambda obj: {**obj, "data": {"k": "v"}}).rv == before + 1


def test_an_edit_that_takes_the_last_hold_of_what_is_deleted_removes_it() -> None:
    def released(obj: JsonObject) -> JsonObject:
        deleted = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
        return {**obj, "metadata": {**obj["metadata"], **deleted}}

    found = stored("a")
    found.update_raw(target("a"), released)
    assert found.read(target("a")) is None


def test_no_object_is_kept_that_etcd_would_not_take() -> None:
    found = stored("a")
    with pytest.raises(StatusError, match="request is too large"):
        found.put(target("a"), config_map("a") | {"data": {"k": "v" * OBJECT_LIMIT}})
    assert "data" not in stored_json.unpack(KIND, found.get(target("a")))


def test_a_scan_names_objects_by_where_they_are() -> None:
    found = stored("a", "b")
    found.put(target("c", "elsewhere"), config_map("c"))
    names = [(each.namespace, each.name) for each, _ in found.scan(KIND, "default/")]
    assert names == [("default", "a"), ("default", "b")]
    assert [obj["metadata"]["name"] for obj in found.others(target("a"))] == ["b", "c"]


def test_nothing_is_still_after_a_write_of_the_same_kind() -> None:
    found = stored("a")
    seen = found.revision
    assert found.unchanged_since(target("a"), seen)
    found.put(target("b"), config_map("b"))
    assert not found.unchanged_since(target("a"), seen)
