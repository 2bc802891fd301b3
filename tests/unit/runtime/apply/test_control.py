"""Promises of quintant.runtime.apply.control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from quintant.api.core import ConfigMap
from quintant.core.errors import Conflict, ConnectError, Invalid, Terminal
from quintant.core.object import K, Object, ObjectMeta, replace
from quintant.runtime.apply import IMMUTABLE, NAME_TAKEN, Policy, control, controlled, marked
from quintant.runtime.apply.diff import ChildChanges
from unit.runtime.apply.fleet import Fleet, fleet, of, ship, sinking, stored
from unit.runtime.apply.stub_client import StubClient

OURS, OTHER = fleet(), fleet("other", "uid-other")


class Mortal(StubClient):
    """Loses its n-th write, before or after applying it."""

    def __init__(self, at: int, applied: bool) -> None:
        super().__init__()
        self.at, self.applied, self.mortal = at, applied, False

    async def apply(self, obj: K, *, force: bool = True) -> K:
        self._die(before=True)
        answer = await super().apply(obj, force=force)
        self._die(before=False)
        return answer

    async def delete(self, obj: Object, *, foreground: bool = False) -> None:
        self._die(before=True)
        await super().delete(obj, foreground=foreground)
        self._die(before=False)

    def _die(self, *, before: bool) -> None:
        if not self.mortal or before is self.applied:
            return
        if self.at == 0:
            raise ConnectError("the connection broke")
        self.at -= 1


class Merging(StubClient):
    """Keeps what others set, as server-side apply does; `late` changes it before each patch."""

    late = False

    async def apply(self, obj: K, *, force: bool = True) -> K:
        old = self.objects.get(obj.key)
        await super().apply(obj, force=force)
        applied = self.objects[obj.key]
        kept = {**(old.data if old else {}), **applied.data}
        self.objects[obj.key] = replace(applied, data=kept)
        return cast(K, self.objects[obj.key])

    async def json_patch(
        self, kind: type[Object], meta: ObjectMeta, operations: Sequence[Mapping[str, Any]]
    ) -> None:
        seen = "6" if self.late else meta.resource_version
        guard = {"op": "test", "path": "/metadata/resourceVersion", "value": seen}
        await super().json_patch(kind, meta, [guard, *operations])


def foreign(have: ConfigMap, want: ConfigMap) -> list[dict[str, Any]]:
    """The patch that removes what is not wanted."""
    extra = have.data.keys() - want.data.keys()
    return [{"op": "remove", "path": f"/data/{key}"} for key in sorted(extra)]


def ships(count: int, text: str = "aye") -> list[ConfigMap]:
    return [ship(f"ship-{n}", text) for n in range(count)]


async def reconcile(
    stub: StubClient, desired: Sequence[ConfigMap], policy: Policy = Policy()
) -> ChildChanges[ConfigMap, ConfigMap]:
    return await control(stub, desired, stub.list(), by=OURS, policy=policy)


async def test_desired_children_come_to_exist_upwards_and_go_downwards() -> None:
    stub = StubClient()
    await reconcile(stub, ships(12))
    assert stub.writes == [f"apply ship-{n}" for n in range(12)]
    assert all(controlled(child, OURS) for child in stub.list())
    stub.writes.clear()
    await reconcile(stub, ships(9))
    assert stub.writes == ["delete ship-11", "delete ship-10", "delete ship-9"]


async def test_a_second_pass_writes_nothing() -> None:
    stub = StubClient()
    await reconcile(stub, ships(3))
    stub.writes.clear()
    assert (await reconcile(stub, ships(3))).settled
    assert stub.writes == []


async def test_a_changed_child_is_changed_in_place_and_by_force() -> None:
    stub = StubClient()
    await reconcile(stub, ships(2))
    uid = stub["ship-1"].metadata.uid
    stub.writes.clear()
    await reconcile(stub, [*ships(1), ship("ship-1", "nay")])
    assert stub.writes == ["apply ship-1 by force"]
    assert stub["ship-1"].data == {"text": "nay"}
    assert stub["ship-1"].metadata.uid == uid


async def test_a_child_the_cache_has_not_seen_is_found_and_not_created_twice() -> None:
    stub = StubClient()
    await reconcile(stub, ships(2))
    stub.writes.clear()
    changes = await control(stub, ships(2), [], by=OURS)
    assert changes.settled
    assert stub.writes == []


async def test_a_stale_child_the_cache_has_not_seen_is_updated() -> None:
    stub = StubClient()
    await reconcile(stub, ships(1))
    await control(stub, ships(1, "nay"), [], by=OURS)
    assert stub["ship-0"].data == {"text": "nay"}


async def test_a_foreign_namesake_is_refused_when_everything_else_is_done() -> None:
    foreign = of(OTHER, ship("ship-1", "theirs"))
    stub = StubClient(foreign, of(OURS, ship("boat")))
    with pytest.raises(Terminal, match="ConfigMap sea/ship-1 exists and belongs to Fleet other"):
        await control(stub, ships(3), [of(OURS, ship("boat"))], by=OURS)
    assert stub["ship-1"] == foreign
    assert stub.names() == {"ship-0", "ship-1", "ship-2"}


async def test_a_refusal_carries_a_reason_callers_can_tell() -> None:
    with pytest.raises(Terminal) as caught:
        await reconcile(StubClient(stored(ship("ship-0"))), ships(1))
    assert caught.value.reason == NAME_TAKEN


async def test_a_child_on_its_way_out_is_waited_for() -> None:
    leaving = sinking(of(OURS, ship("ship-0")))
    stub = StubClient(leaving)
    changes = await control(stub, ships(1), [], by=OURS)
    assert [child.metadata.name for child in changes.waiting] == ["ship-0"]
    assert stub["ship-0"] == leaving
    assert stub.writes == []


async def test_updates_left_to_the_caller_are_returned_and_not_made() -> None:
    stub = StubClient()
    await reconcile(stub, ships(2))
    changes = await reconcile(stub, ships(2, "nay"), Policy(update="leave"))
    assert [update.want.metadata.name for update in changes.update] == ["ship-0", "ship-1"]
    assert stub["ship-0"].data == {"text": "aye"}


async def test_surplus_left_to_the_caller_is_returned_and_kept() -> None:
    stub = StubClient()
    await reconcile(stub, ships(2))
    changes = await reconcile(stub, ships(1), Policy(delete="leave"))
    assert [child.metadata.name for child in changes.delete] == ["ship-1"]
    assert stub.names() == {"ship-0", "ship-1"}


async def test_surplus_can_go_in_the_foreground() -> None:
    stub = StubClient(of(OURS, ship("ship-0")))
    await reconcile(stub, [], Policy(delete="foreground"))
    assert stub.writes == ["delete ship-0 in foreground"]


def fixed(text: str) -> ConfigMap:
    return replace(ship("ship-1", text), immutable=True)


async def test_an_immutable_child_is_named_and_the_others_are_kept_up() -> None:
    stub = StubClient()
    await reconcile(stub, [ship("ship-0", "aye"), fixed("aye"), ship("ship-2", "aye")])
    with pytest.raises(Terminal, match=r"ConfigMap sea/ship-1: .* immutable") as caught:
        await reconcile(stub, [ship("ship-0", "nay"), fixed("nay")])
    assert caught.value.reason == IMMUTABLE
    assert stub["ship-0"].data == {"text": "nay"}
    assert stub["ship-1"].data == {"text": "aye"}
    assert stub.names() == {"ship-0", "ship-1"}


@pytest.mark.parametrize("held", [False, True])
async def test_an_immutable_child_is_replaced_where_its_policy_says_so(held: bool) -> None:
    stub, policy = StubClient(held=held), Policy(update="replace")
    await reconcile(stub, [fixed("aye")], policy)
    uid = stub["ship-1"].metadata.uid
    await reconcile(stub, [fixed("nay")], policy)
    if held:
        assert (await reconcile(stub, [fixed("nay")], policy)).waiting
        stub.objects.clear()
    await reconcile(stub, [fixed("nay")], policy)
    assert stub["ship-1"].data == {"text": "nay"}
    assert stub["ship-1"].metadata.uid != uid


async def test_what_can_be_changed_in_place_is_not_replaced() -> None:
    stub, policy = StubClient(), Policy(update="replace")
    await reconcile(stub, ships(1), policy)
    uid = stub["ship-0"].metadata.uid
    await reconcile(stub, ships(1, "nay"), policy)
    assert stub["ship-0"].metadata.uid == uid


async def test_a_child_the_server_finds_invalid_is_never_deleted_for_it() -> None:
    stub, policy = StubClient(), Policy(update="replace")
    await reconcile(stub, ships(1), policy)
    with pytest.raises(Invalid):
        await reconcile(stub, [replace(ship("ship-0"), data={"bad": "x"})], policy)
    assert stub["ship-0"].data == {"text": "aye"}


@pytest.mark.parametrize("policy", [Policy(), Policy(update="replace")])
async def test_a_namesake_of_what_was_seen_is_not_touched(policy: Policy) -> None:
    seen = of(OURS, marked(ship("ship-0", "aye")))
    namesake = stored(ship("ship-0", "theirs"), uid="uid-namesake")
    stub = StubClient(namesake)
    with pytest.raises(Conflict, match="ConfigMap sea/ship-0 was replaced by a namesake"):
        await control(stub, ships(1, "nay"), [seen], by=OURS, policy=policy)
    with pytest.raises(Conflict):
        await control(stub, [], [seen], by=OURS, policy=policy)
    assert stub["ship-0"] == namesake


async def test_a_child_that_vanished_before_its_update_is_a_conflict() -> None:
    with pytest.raises(Conflict):
        await control(StubClient(), ships(1, "nay"), [of(OURS, ship("ship-0"))], by=OURS)


@pytest.mark.parametrize("newer", [None, fleet(uid="uid-anew"), fleet(generation=2)])
@pytest.mark.parametrize("policy", [Policy(), Policy(delete="foreground")])
async def test_an_old_view_of_the_owner_deletes_nothing(
    newer: Fleet | None, policy: Policy
) -> None:
    stub = StubClient()
    await reconcile(stub, ships(2))
    stub.owners = {newer.key: newer} if newer is not None else {}
    with pytest.raises(Conflict, match="our cache is behind"):
        await reconcile(stub, ships(1), policy)
    assert stub.names() == {"ship-0", "ship-1"}


async def test_an_old_view_of_the_owner_replaces_nothing() -> None:
    stub = StubClient(replace(of(OURS, ship("ship-0", "aye")), immutable=True))
    stub.owners = {OURS.key: fleet(generation=2)}
    with pytest.raises(Conflict, match="our cache is behind"):
        await reconcile(stub, ships(1, "nay"), Policy(update="replace"))
    assert stub["ship-0"].data == {"text": "aye"}


@pytest.mark.parametrize("at", range(6))
@pytest.mark.parametrize("applied", [False, True])
async def test_a_pass_cut_short_anywhere_is_continued_by_the_next(at: int, applied: bool) -> None:
    stub = Mortal(at, applied)
    await reconcile(stub, [*ships(2), ship("boat-0"), ship("boat-1")])
    stub.mortal = True
    desired = [*ships(2, "nay"), ship("tug-0"), ship("tug-1")]
    with pytest.raises(ConnectError):
        await reconcile(stub, desired)
    stub.mortal = False
    await reconcile(stub, desired)
    assert (await reconcile(stub, desired)).settled
    assert {child.metadata.name: child.data for child in stub.list()} == {
        child.metadata.name: child.data for child in desired
    }


async def test_drift_is_restored_by_the_policy() -> None:
    stub = StubClient()
    await reconcile(stub, ships(1))
    edited = replace(stub["ship-0"], data={"text": "mutiny"})
    stub.objects[edited.key] = edited
    assert (await reconcile(stub, ships(1))).settled
    await reconcile(stub, ships(1), Policy(drifted=lambda have, want: have.data != want.data))
    assert stub["ship-0"].data == {"text": "aye"}


async def test_what_somebody_added_is_removed_by_the_policy() -> None:
    stub, policy = Merging(), Policy(strays=foreign)
    await reconcile(stub, ships(1), policy)
    boarded = replace(stub["ship-0"], data={"text": "aye", "pirate": "hello"})
    stub.objects[boarded.key] = boarded
    assert (await reconcile(stub, ships(1))).settled
    await reconcile(stub, ships(1), policy)
    assert stub["ship-0"].data == {"text": "aye"}
    assert (await reconcile(stub, ships(1), policy)).settled


async def test_what_was_added_goes_with_an_update_too() -> None:
    stub, policy = Merging(), Policy(strays=foreign)
    await reconcile(stub, ships(1), policy)
    boarded = replace(stub["ship-0"], data={"text": "aye", "pirate": "hello"})
    stub.objects[boarded.key] = boarded
    stub.writes.clear()
    await reconcile(stub, ships(1, "nay"), policy)
    assert stub["ship-0"].data == {"text": "nay"}
    assert stub.writes == ["apply ship-0 by force", "amend ship-0"]


async def test_child_that_changed_while_it_was_cleaned_is_a_conflict() -> None:
    stub, policy = Merging(), Policy(strays=foreign)
    await reconcile(stub, ships(1), policy)
    boarded = replace(stub["ship-0"], data={"text": "aye", "pirate": "hello"})
    stub.objects[boarded.key] = boarded
    stub.late = True
    with pytest.raises(Conflict):
        await reconcile(stub, ships(1), policy)


async def test_what_nobody_controls_is_adopted_by_the_policy() -> None:
    stub = StubClient(stored(ship("ship-0", "drifting")))
    uid = stub["ship-0"].metadata.uid
    await reconcile(stub, ships(1), Policy(adopts=lambda have, want: True))
    assert controlled(stub["ship-0"], OURS)
    assert (stub["ship-0"].data, stub["ship-0"].metadata.uid) == ({"text": "aye"}, uid)
    assert (await reconcile(stub, ships(1))).settled
