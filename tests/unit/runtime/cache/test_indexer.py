"""Promises of quintant.runtime.cache.indexer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from quintant.core.errors import ConfigError
from quintant.core.object import Object, Request
from quintant.runtime.cache.indexer import Index, Indexer
from unit.runtime.kinds import Chart, chart

NAMES = ("a", "b", "c", "d")
VALUES = ("north", "south", "east")
# An object with some index values, or its removal.
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.none() | st.lists(st.sampled_from(VALUES)))
)


def waters(obj: Chart) -> list[str]:
    return obj.data["waters"].split() if obj.data["waters"] else []


def charted(name: str, values: list[str]) -> Chart:
    return chart(name, data={"waters": " ".join(values)})


def stored(*charts: Chart) -> Indexer[Chart]:
    store: Indexer[Chart] = Indexer()
    for obj in charts:
        store.put(obj.key, obj)
    return store


@given(OPERATIONS, OPERATIONS)
def test_indexes_are_exact_after_any_operations(
    before: list[tuple[str, list[str] | None]], after: list[tuple[str, list[str] | None]]
) -> None:
    store: Indexer[Chart] = Indexer()
    truth: dict[str, list[str]] = {}

    def run(operations: list[tuple[str, list[str] | None]]) -> None:
        for name, values in operations:
            if values is None:
                store.delete(Request(name, "sea"))
                truth.pop(name, None)
            else:
                store.put(Request(name, "sea"), charted(name, values))
                truth[name] = values

    run(before)
    store.add_index("waters", waters)
    run(after)

    assert {obj.metadata.name for obj in store} == set(truth)
    assert len(store) == len(truth)
    for value in VALUES:
        found = {obj.metadata.name for obj in store.by_index("waters", value)}
        assert found == {name for name, values in truth.items() if value in values}
    assert len(store.index("waters")) == sum(len(set(values)) for values in truth.values())


def test_objects_are_found_by_key() -> None:
    store = stored(chart("a"), chart("b"))

    assert store.get(Request("a", "sea")) == chart("a")
    assert store.get(Request("a")) is None
    assert set(store.list_keys()) == {("a", "sea"), ("b", "sea")}


def test_removing_what_is_not_there_changes_nothing() -> None:
    store = stored(chart("a"))

    store.delete(Request("b", "sea"))

    assert len(store) == 1


def test_a_value_nobody_has_finds_nothing() -> None:
    store = stored(charted("a", ["north"]))
    store.add_index("waters", waters)

    assert store.by_index("waters", "west") == ()


def test_an_object_that_an_index_chokes_on_is_held_and_filed_under_nothing() -> None:
    store = stored(charted("a", ["north"]), chart("b"))
    with capture_logs() as lines:
        store.add_index("even", lambda obj: ["even"])
        store.add_index("waters", waters)
        assert [(line["index"], line["object"]) for line in lines] == [("waters", "sea/b")]
        lines.clear()
        store.put(Request("a", "sea"), chart("a"))
        store.put(Request("b", "sea"), charted("b", ["east"]))
        store.put(Request("c", "sea"), chart("c"))
        assert [line["object"] for line in lines] == ["sea/a", "sea/c"]
        lines.clear()
        store.delete(Request("a", "sea"))
        assert lines == []

    assert [obj.metadata.name for obj in store.by_index("even", "even")] == ["b", "c"]
    assert [obj.metadata.name for obj in store.by_index("waters", "east")] == ["b"]
    assert len(store.index("waters")) == 1


def test_a_text_instead_of_a_list_of_texts_is_no_value() -> None:
    store = stored(chart("a"))
    with capture_logs() as lines:
        store.add_index("name", lambda obj: obj.metadata.name)

    assert len(store.index("name")) == 0
    assert [line["event"] for line in lines] == ["index failed"]


def test_each_index_is_declared_once() -> None:
    store = stored()
    store.add_index("waters", waters)

    with pytest.raises(ConfigError, match="index 'waters' is declared twice"):
        store.add_index("waters", waters)


def test_the_same_index_can_be_shared_and_another_cannot_take_its_name() -> None:
    store: Indexer[Chart] = Indexer()
    store.ensure_index("waters", waters)
    store.ensure_index("waters", waters)
    with pytest.raises(ConfigError, match="index 'waters' is declared twice"):
        store.ensure_index("waters", lambda obj: [])


def test_an_unknown_index_names_those_there_are() -> None:
    store = stored()
    with pytest.raises(ConfigError, match="the indexes of this kind are: none"):
        store.index("depth")

    store.add_index("waters", waters)
    with pytest.raises(ConfigError, match="the indexes of this kind are: waters"):
        store.by_index("depth", "x")


def test_a_value_with_one_key_and_one_with_many_are_alike_to_who_asks() -> None:
    index: Index[Object] = Index("letters", lambda obj: obj.metadata.name)
    one, two = Request("a"), Request("b")
    index.move(one, (), ("x",))
    assert (index.keys("x"), len(index)) == ((one,), 1)
    index.move(one, (), ("x",))
    assert (index.keys("x"), len(index)) == ((one,), 1)
    index.move(two, (), ("x",))
    assert (index.keys("x"), len(index)) == ((one, two), 2)
    index.move(one, ("x",), ())
    assert index.keys("x") == (two,)
    index.move(one, ("x",), ())
    index.move(two, ("x",), ())
    assert (index.keys("x"), index.values()) == ((), ())
