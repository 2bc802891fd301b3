"""Promises of quintant.runtime.apply.diff."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from quintant.api.core import ConfigMap
from quintant.core.errors import ConfigError
from quintant.core.object import Object, OwnerReference, replace
from quintant.core.owner import OWNER, OWNER_UID
from quintant.core.resource import projection
from quintant.runtime.apply.diff import ChildChanges, controlled, diff
from quintant.runtime.apply.order import sort_key
from quintant.runtime.apply.revision import MARK, RevisionMark, fnv1, marked, revision
from unit.runtime.apply.fleet import Fleet, fleet, of, ship, sinking, stored

OURS, FORMER = fleet(), fleet(uid="uid-of-an-earlier-fleet")
OTHER = fleet("other", "uid-other")
# Fleets of another namespace than their ships: the ships are labelled.
APART = fleet(uid="uid-apart", namespace="harbour")
APART_FORMER = fleet(uid="uid-of-an-earlier-fleet-apart", namespace="harbour")
APART_OTHER = fleet("other", "uid-other-apart", namespace="harbour")
ELSEWHERE = fleet(uid="uid-elsewhere", namespace="lake")
OWNERS = [OURS, OURS, FORMER, OTHER, APART, APART, APART_FORMER, APART_OTHER, ELSEWHERE, None]
LABEL = RevisionMark(key="app.kubernetes.io/revision", carrier="label", hash=fnv1)

World = dict[str, ConfigMap]


def up_to_date(child: ConfigMap, mark: RevisionMark = MARK) -> ConfigMap:
    return of(OURS, marked(child, mark))


def names(objects: Iterable[Object]) -> list[str]:
    return [obj.metadata.name for obj in objects]


def acted(changes: ChildChanges[ConfigMap, ConfigMap], world: World) -> World:
    """The world after the changes: a model of the server."""
    after = dict(world)
    for child in changes.create:
        assert child.metadata.name not in after
        after[child.metadata.name] = stored(child, f"new-{child.metadata.name}")
    for update in changes.update:
        assert update.want.metadata.uid == after[update.have.metadata.name].metadata.uid
        after[update.have.metadata.name] = stored(update.want)
    for child in changes.delete:
        del after[child.metadata.name]
    return after


def test_a_missing_child_is_created_with_owner_and_revision() -> None:
    (child,) = diff([ship("ship-0", "aye")], [], by=OURS).create
    assert controlled(child, OURS)
    assert MARK.of(child) == revision(ship("ship-0", "aye"))


def test_a_child_of_the_same_revision_is_left_whatever_the_server_added() -> None:
    live = replace(up_to_date(ship("ship-0", "aye")), immutable=False)
    changes = diff([ship("ship-0", "aye")], [live], by=OURS)
    assert changes == ChildChanges(leave=(live,))
    assert changes.settled


@pytest.mark.parametrize("mark", [MARK, LABEL])
def test_a_changed_child_is_updated_under_the_uid_it_has(mark: RevisionMark) -> None:
    live = up_to_date(ship("ship-0", "aye"), mark)
    (update,) = diff([ship("ship-0", "nay")], [live], by=OURS, mark=mark).update
    assert update.have == live
    assert update.want.metadata.uid == live.metadata.uid
    assert mark.of(update.want) == revision(ship("ship-0", "nay"), mark)


def test_a_child_that_lost_its_revision_is_updated() -> None:
    live = of(OURS, ship("ship-0", "aye"))
    assert len(diff([ship("ship-0", "aye")], [live], by=OURS).update) == 1


def test_a_surplus_child_is_deleted() -> None:
    live = up_to_date(ship("ship-0"))
    assert diff([], [live], by=OURS).delete == (live,)


@pytest.mark.parametrize(
    "foreign", [stored(ship("ship-0")), of(OTHER, ship("ship-0")), of(FORMER, ship("ship-0"))]
)
def test_what_is_not_ours_is_neither_deleted_nor_mentioned(foreign: ConfigMap) -> None:
    assert diff([], [foreign], by=OURS) == ChildChanges()


def test_a_name_held_by_another_owner_is_refused_and_says_whose_it_is() -> None:
    (refusal,) = diff([ship("ship-0")], [of(OTHER, ship("ship-0"))], by=OURS).refused
    assert refusal.holder is not None
    assert refusal.holder.uid == "uid-other"
    assert str(refusal) == "ConfigMap sea/ship-0 exists and belongs to Fleet other"


def test_an_object_without_controller_is_refused_not_adopted() -> None:
    changes = diff([ship("ship-0")], [stored(ship("ship-0"))], by=OURS)
    assert changes.empty
    assert not changes.settled
    assert str(changes.refused[0]).endswith("belongs to no controller")


def test_only_what_nobody_controls_can_be_adopted() -> None:
    free, held = stored(ship("ship-0")), of(OTHER, ship("ship-0"))
    (update,) = diff([ship("ship-0")], [free], by=OURS, adopts=lambda have, want: True).update
    assert (update.have, update.want.metadata.uid) == (free, free.metadata.uid)
    assert controlled(update.want, OURS)
    assert diff([ship("ship-0")], [free], by=OURS, adopts=lambda have, want: False).refused
    assert diff([ship("ship-0")], [held], by=OURS, adopts=lambda have, want: True).refused


def test_an_owner_that_is_not_the_controller_does_not_make_it_ours() -> None:
    visitor = OwnerReference(kind="Fleet", name="fleet", uid=OURS.metadata.uid)
    live = stored(ship("ship-0", owner_references=(visitor,)))
    assert diff([], [live], by=OURS).delete == ()


def test_a_desired_child_waits_for_its_deleting_namesake() -> None:
    for leaving in (up_to_date(ship("ship-0")), of(OTHER, ship("ship-0")), stored(ship("ship-0"))):
        changes = diff([ship("ship-0")], [sinking(leaving)], by=OURS)
        assert names(changes.waiting) == ["ship-0"]
        assert changes.empty
        assert not changes.settled


def test_a_desired_child_waits_for_what_an_earlier_owner_of_the_name_left_behind() -> None:
    changes = diff([ship("ship-0")], [of(FORMER, ship("ship-0"))], by=OURS)
    assert names(changes.waiting) == ["ship-0"]
    assert changes.refused == ()


def test_a_deleting_surplus_child_is_left() -> None:
    leaving = sinking(up_to_date(ship("ship-0")))
    assert diff([], [leaving], by=OURS) == ChildChanges(leave=(leaving,))


def test_drift_is_restored_where_somebody_looks_for_it() -> None:
    edited = replace(up_to_date(ship("ship-0", "aye")), data={"text": "nay"})
    desired = [ship("ship-0", "aye")]
    assert diff(desired, [edited], by=OURS).settled
    (update,) = diff(
        desired, [edited], by=OURS, drifted=lambda have, want: have.data != want.data
    ).update
    assert update.want.data == {"text": "aye"}
    as_desired = up_to_date(ship("ship-0", "aye"))
    assert diff(desired, [as_desired], by=OURS, drifted=lambda have, want: False).settled


def test_existing_may_be_a_narrow_projection() -> None:
    @projection(ConfigMap)
    class Outline(Object):
        """Only the metadata."""

    full = up_to_date(ship("ship-0", "aye"))
    outline = Outline(metadata=full.metadata)
    assert diff([ship("ship-0", "aye")], [outline], by=OURS).leave == (outline,)


def test_children_are_created_upwards_and_deleted_downwards() -> None:
    fleet_of = [ship(f"ship-{n}", "new") for n in (22, 2, 0, 10)]
    surplus = [up_to_date(ship(f"boat-{n}")) for n in (3, 33, 4)]
    stale = [up_to_date(ship(f"ship-{n}", "old")) for n in (10, 2)]
    changes = diff(fleet_of, [*surplus, *stale], by=OURS)
    assert names(changes.create) == ["ship-0", "ship-22"]
    assert names(update.want for update in changes.update) == ["ship-2", "ship-10"]
    assert names(changes.delete) == ["boat-33", "boat-4", "boat-3"]


def test_an_ordinal_key_decides_the_order() -> None:
    mark = RevisionMark(ordinal="n")
    desired = [ship(name, annotations={"n": n}) for name, n in (("a", "10"), ("b", "9"))]
    assert names(diff(desired, [], by=OURS, mark=mark).create) == ["b", "a"]
    live = [up_to_date(child, mark) for child in desired]
    assert names(diff([], live, by=OURS, mark=mark).delete) == ["a", "b"]
    assert names(diff(desired, live, by=OURS, mark=mark).leave) == ["b", "a"]


def test_another_ordinal_alone_is_no_update() -> None:
    mark = RevisionMark(ordinal="n")
    live = up_to_date(ship("a", annotations={"n": "1"}), mark)
    assert diff([ship("a", annotations={"n": "2"})], [live], by=OURS, mark=mark).settled


@pytest.mark.parametrize("side", ["desired", "existing"])
def test_two_objects_of_one_name_are_a_mistake(side: str) -> None:
    twins = {"desired": (), "existing": (), side: (ship("ship-0"), ship("ship-0"))}
    with pytest.raises(ValueError, match="two objects named sea/ship-0 of kind ConfigMap"):
        diff(twins["desired"], twins["existing"], by=OURS)


def test_a_desired_child_without_a_name_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="a desired ConfigMap has no name"):
        diff([ship("", generate_name="ship-")], [], by=OURS)


def test_an_owner_that_was_never_stored_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match="no uid"):
        diff([ship("ship-0")], [], by=fleet(uid=""))
    assert (
        diff([], [stored(ship("x", owner_references=(NOBODY,)))], by=fleet(uid=""))
        == ChildChanges()
    )


NOBODY = OwnerReference(kind="Fleet", name="fleet", uid="", controller=True)
SHIPS = st.sampled_from([f"ship-{n}" for n in (0, 1, 2, 9, 10)] + ["flag", "tug-1"])
TEXTS = st.sampled_from(["", "aye", "nay"])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Objects of ours, of an earlier owner, of others and of nobody; some on their way out."""
    world = {}
    for name in draw(st.sets(SHIPS)):
        owner: Fleet | None = draw(st.sampled_from(OWNERS))
        child = draw(st.sampled_from([marked(ship(name)), ship(name), marked(ship(name, "aye"))]))
        live = of(owner, child) if owner else stored(child)
        world[name] = sinking(live) if draw(st.integers(0, 4)) == 0 else live
    return world


DESIRES = st.dictionaries(SHIPS, TEXTS).map(
    lambda texts: [ship(name, text) for name, text in texts.items()]
)


# Children in another namespace.


def test_a_child_in_another_namespace_is_labelled_and_has_no_reference() -> None:
    (child,) = diff([ship("ship-0", "aye")], [], by=APART, across_namespaces=True).create
    assert controlled(child, APART)
    assert child.metadata.owner_references == ()
    assert child.metadata.labels == {OWNER_UID: "uid-apart"}
    assert child.metadata.annotations[OWNER] == "Fleet.test.quintant.dev/harbour/fleet"
    assert MARK.of(child) == revision(ship("ship-0", "aye"))


def test_a_child_in_another_namespace_is_a_mistake_unless_it_is_meant() -> None:
    with pytest.raises(ConfigError, match="across_namespaces=True"):
        diff([ship("ship-0")], [], by=APART)


@pytest.mark.parametrize(
    ("holder", "name"),
    [
        (APART_OTHER, "Fleet other of namespace harbour"),
        (ELSEWHERE, "Fleet fleet of namespace lake"),
        (OURS, "Fleet fleet"),
    ],
)
def test_a_child_of_our_label_that_is_somebody_elses_is_refused_and_named(
    holder: Fleet, name: str
) -> None:
    theirs = of(holder, marked(ship("ship-0")))
    changes = diff([ship("ship-0")], [theirs], by=APART, across_namespaces=True)
    assert changes.empty
    assert str(changes.refused[0]).endswith(f"belongs to {name}")
    assert diff([], [theirs], by=APART, across_namespaces=True) == ChildChanges()


def test_a_reference_counts_for_more_than_a_label() -> None:
    copied = of(APART, marked(ship("ship-0")))
    held = stored(replace(copied, metadata=replace(copied.metadata, owner_references=(HELD,))))
    assert not controlled(held, APART)
    assert diff([], [held], by=APART, across_namespaces=True) == ChildChanges()
    (refused,) = diff([ship("ship-0")], [held], by=APART, across_namespaces=True).refused
    assert str(refused).endswith("belongs to Deployment d")


@pytest.mark.parametrize("place", ["", "Fleet", "a/b", "a/b/c/d", "//", "Fleet.x//fleet"])
def test_a_label_without_a_readable_name_is_nobodys(place: str) -> None:
    meta = ship("ship-0", labels={OWNER_UID: "uid-apart"}, annotations={OWNER: place})
    changes = diff([ship("ship-0")], [stored(meta)], by=APART, across_namespaces=True)
    assert str(changes.refused[0]).endswith("belongs to no controller")


HELD = OwnerReference(api_version="apps/v1", kind="Deployment", name="d", uid="u", controller=True)


@given(desired=DESIRES, world=worlds(), by=st.sampled_from([OURS, APART]))
def test_acting_on_the_changes_gives_exactly_what_is_desired(
    desired: list[ConfigMap], world: World, by: Fleet
) -> None:
    changes = diff(desired, world.values(), by=by, across_namespaces=True)
    after = acted(changes, world)
    ours = {n: c for n, c in after.items() if controlled(c, by) and not c.deleting}
    blocked = set(names(changes.waiting)) | set(names(r.want for r in changes.refused))
    assert set(ours) == {child.metadata.name for child in desired} - blocked
    for child in desired:
        if child.metadata.name in ours:
            assert MARK.of(ours[child.metadata.name]) == revision(child)


def test_worlds_have_what_is_not_ours_and_what_is_on_its_way_out() -> None:
    world = find(
        worlds(),
        lambda it: (
            any(not controlled(each, OURS) for each in it.values())
            and any(each.deleting for each in it.values())
        ),
    )
    assert len(world) >= 1


@given(desired=DESIRES, world=worlds(), by=st.sampled_from([OURS, APART]))
def test_what_is_not_ours_or_is_on_its_way_out_is_never_touched(
    desired: list[ConfigMap], world: World, by: Fleet
) -> None:
    after = acted(diff(desired, world.values(), by=by, across_namespaces=True), world)
    for name, before in world.items():
        if not controlled(before, by) or before.deleting:
            assert after[name] == before


@given(desired=DESIRES, world=worlds(), by=st.sampled_from([OURS, APART]))
def test_a_second_diff_finds_nothing_to_do(
    desired: list[ConfigMap], world: World, by: Fleet
) -> None:
    first = diff(desired, world.values(), by=by, across_namespaces=True)
    second = diff(desired, acted(first, world).values(), by=by, across_namespaces=True)
    assert second.empty
    assert names(second.waiting) == names(first.waiting)
    assert names(r.want for r in second.refused) == names(r.want for r in first.refused)


@given(desired=DESIRES, world=worlds(), by=st.sampled_from([OURS, APART]))
def test_the_order_of_what_is_given_does_not_matter(
    desired: list[ConfigMap], world: World, by: Fleet
) -> None:
    changes = diff(desired, world.values(), by=by, across_namespaces=True)
    assert changes == diff(desired[::-1], list(world.values())[::-1], by=by, across_namespaces=True)
    for upward in (changes.create, changes.leave, changes.waiting):
        assert list(upward) == sorted(upward, key=sort_key)
    assert list(changes.delete) == sorted(changes.delete, key=sort_key, reverse=True)


@given(desired=DESIRES, world=worlds(), by=st.sampled_from([OURS, APART]))
def test_every_desired_child_has_one_fate(
    desired: list[ConfigMap], world: World, by: Fleet
) -> None:
    changes = diff(desired, world.values(), by=by, across_namespaces=True)
    fates = [
        *names(changes.create),
        *names(update.want for update in changes.update),
        *names(changes.leave),
        *names(changes.waiting),
        *names(refusal.want for refusal in changes.refused),
    ]
    wanted = {child.metadata.name for child in desired}
    assert sorted(name for name in fates if name in wanted) == sorted(wanted)
