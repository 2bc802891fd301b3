"""Promises of quintant.client.merge_patch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from quintant.client.merge_patch import make_merge_patch
from quintant.core import codec
from quintant.core.errors import ConfigError
from quintant.core.object import Custom, Model, Opaque, OwnerReference, replace
from quintant.core.resource import projection
from unit.core.json_strategy import JSON
from unit.runtime.kinds import Chart, Harbour, Mast, Ship, ShipSpec, chart, meta


class NarrowSpec(Model):
    masts: tuple[Mast, ...] = ()


@projection(Ship)
class ShipView(Custom[NarrowSpec, Model]):
    """A custom kind seen through a narrower type."""


def merged(target: Any, patch: Any) -> Any:
    """RFC 7396, as servers do it."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def same(one: Any, other: Any) -> bool:
    """Equal to JSON, for which True is not 1 and the order of members does not matter."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def planned(plan: Any) -> Ship:
    return Ship(metadata=meta(), spec=ShipSpec(plan=Opaque.of({"root": plan})))


def without_nulls(value: Any) -> Any:
    """A merge patch cannot write null: it means removal."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return value


@given(JSON, JSON)
def test_a_patch_turns_the_old_into_the_new(old: Any, new: Any) -> None:
    since, wanted = planned(without_nulls(old)), planned(without_nulls(new))
    if new is None or old is None:
        return

    patch = make_merge_patch(wanted, since)

    assert same(merged(codec.to_plain(since), patch), codec.to_plain(wanted))
    assert bool(patch) != same(codec.to_plain(since), codec.to_plain(wanted))


def test_nothing_changed_is_nothing_to_send() -> None:
    assert make_merge_patch(chart(data={"a": "b"}), chart(data={"a": "b"})) == {}


def test_only_what_differs_is_sent() -> None:
    old = chart(data={"kept": "1", "changed": "2", "removed": "3"}, labels={"x": "y"})
    new = chart(data={"kept": "1", "changed": "4", "added": "5"})

    assert make_merge_patch(new, old) == {
        "metadata": {"labels": None},
        "data": {"changed": "4", "removed": None, "added": "5"},
    }


@pytest.mark.parametrize(("old", "new"), [(1, True), (0, False), (1, 1.0), ([1], [True])])
def test_values_that_only_python_takes_for_equal_differ(old: Any, new: Any) -> None:
    patch = make_merge_patch(planned(new), planned(old))

    assert same(patch, {"spec": {"plan": {"root": new}}})


def test_the_order_of_members_is_no_difference() -> None:
    old = planned([{"a": 1, "b": 2}])
    new = planned([{"b": 2, "a": 1}])

    assert make_merge_patch(new, old) == {}


def test_lists_of_a_projection_are_not_patched() -> None:
    old = Harbour(metadata=meta(), piers=(Mast(height=1),))
    new = replace(old, piers=(Mast(height=2),))

    with pytest.raises(ConfigError, match=r"the list piers changed\n.*\ntry: use apply\(\)"):
        make_merge_patch(new, old)


def test_lists_of_a_projection_that_do_not_change_do_no_harm() -> None:
    old = Harbour(metadata=meta(), piers=(Mast(height=1),))
    new = replace(old, metadata=replace(old.metadata, labels={"a": "b"}))

    assert make_merge_patch(new, old) == {"metadata": {"labels": {"a": "b"}}}


def test_lists_deep_inside_a_projection_are_not_patched_either() -> None:
    class Part(Model):
        masts: tuple[Mast, ...] = ()

    @projection(Harbour)
    class Deep(Harbour):
        part: Part = Part()

    old = Deep(metadata=meta())

    with pytest.raises(ConfigError, match=r"the list part\.masts changed"):
        make_merge_patch(replace(old, part=Part(masts=(Mast(height=2),))), old)


def test_a_view_of_a_custom_kind_is_a_projection() -> None:
    old = ShipView(metadata=meta(), spec=NarrowSpec(masts=(Mast(height=1),)))
    new = replace(old, spec=NarrowSpec(masts=(Mast(height=2),)))

    with pytest.raises(ConfigError, match=r"the list spec\.masts changed"):
        make_merge_patch(new, old)


def test_lists_of_a_custom_kind_are_patched_whole() -> None:
    old = Ship(metadata=meta(), spec=ShipSpec(masts=(Mast(height=1), Mast(height=2))))
    new = replace(old, spec=ShipSpec(masts=(Mast(height=3),)))

    assert make_merge_patch(new, old) == {"spec": {"masts": [{"height": 3}]}}


def test_lists_of_words_and_owners_are_known_whole() -> None:
    old = Chart(metadata=meta())
    owner = OwnerReference(api_version="v1", kind="Fleet", name="f", uid="u")
    new = Chart(metadata=meta(finalizers=("a", "b"), owner_references=(owner,)))

    patch = make_merge_patch(new, old)

    assert patch["metadata"]["finalizers"] == ["a", "b"]
    assert patch["metadata"]["ownerReferences"][0]["uid"] == "u"


def test_what_both_share_is_not_looked_into() -> None:
    shared = Opaque(b"no JSON at all")
    before = Ship(metadata=meta(), spec=ShipSpec(plan=shared))
    after = replace(before, metadata=replace(before.metadata, labels={"sails": "set"}))
    assert make_merge_patch(after, before) == {"metadata": {"labels": {"sails": "set"}}}
    renamed = replace(before, spec=replace(before.spec, name="other"))
    assert make_merge_patch(renamed, before) == {"spec": {"name": "other"}}
