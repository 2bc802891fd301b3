"""Topics: versions, changes, and viewers that fall behind."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from quintant.console.topics import (
    MOST_CHANGE_BYTES,
    MOST_CHANGES,
    PUBLIC,
    AccessScope,
    Topic,
    TopicRow,
)

SECRET = AccessScope("", "pods", "a")


def rows(**values: Any) -> dict[str, TopicRow]:
    return {key: TopicRow({"value": value}) for key, value in values.items()}


def events(raw: bytes) -> list[tuple[str, Any]]:
    found = []
    for block in raw.decode().split("\n\n")[:-1]:
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), msgspec.json.decode(data[len("data: ") :])))
    return found


class PageModel:
    """A page: what it has of a topic, by the events that it got."""

    def __init__(self) -> None:
        self.version, self.rows, self.meta = 0, dict[str, Any](), dict[str, Any]()

    def take(self, raw: bytes) -> None:
        for name, data in events(raw):
            if name == "snapshot":
                self.rows, self.meta = dict(data["rows"]), dict(data["meta"])
            else:
                assert data["version"] == self.version + 1
                self.rows |= data["set"]
                self.meta |= data["meta"]
                for key in data["remove"]:
                    del self.rows[key]
            self.version = data["version"]


def test_nothing_new_is_no_change() -> None:
    topic = Topic("t")
    assert topic.publish(rows(a=1), meta={"m": 1})
    assert not topic.publish(rows(a=1), ["b"], {"m": 1})
    assert topic.version == 1


def test_a_change_has_what_is_new_and_nothing_else() -> None:
    topic = Topic("t")
    topic.publish(rows(a=1, b=2, c=3), meta={"m": 1, "n": 1})
    topic.publish(rows(a=1, b=4), ["c"], {"m": 1, "n": 2})
    assert events(topic.events_since(1)) == [
        ("change", {"topic": "t", "version": 2, "set": {"b": {"value": 4}}, "remove": ["c"],
                    "meta": {"n": 2}})
    ]  # fmt: skip


def test_a_change_is_encoded_once_for_all_viewers() -> None:
    topic = Topic("t")
    topic.publish(rows(a=1))
    topic.publish(rows(a=2))
    assert topic._changes[-1].event is topic._changes[-1].event
    assert topic.snapshot() is topic.snapshot()


Step = st.tuples(
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)),
    st.sets(st.sampled_from("abcd")),
    st.booleans(),
)


@given(st.lists(Step, max_size=30))
def test_a_viewer_that_looks_now_and_then_has_what_there_is(steps: list[Any]) -> None:
    topic, page = Topic("t"), PageModel()
    topic.publish({})
    for new, gone, looks in steps:
        topic.publish(rows(**new), gone - new.keys())
        if looks:
            page.take(topic.events_since(page.version))
    page.take(topic.events_since(page.version))
    whole = msgspec.json.decode(topic.snapshot())
    assert (page.rows, page.version) == (whole["rows"], topic.version)


def test_a_viewer_that_is_far_behind_gets_the_whole_state() -> None:
    topic = Topic("t")
    for number in range(MOST_CHANGES + 10):
        topic.publish(rows(a=number))
    assert [name for name, _ in events(topic.events_since(1))] == ["snapshot"]
    assert len(events(topic.events_since(topic.version - 1))) == 1


def test_what_is_kept_for_viewers_behind_is_bounded_in_bytes() -> None:
    topic = Topic("t")
    for number in range(20):
        topic.publish(rows(a="x" * (MOST_CHANGE_BYTES // 4) + str(number)))
    assert sum(len(each.event) for each in topic._changes) <= MOST_CHANGE_BYTES


def test_a_viewer_sees_the_rows_that_it_may_see_and_no_others() -> None:
    topic = Topic("t", SECRET)
    topic.publish({"a": TopicRow(1, SECRET), "b": TopicRow(2)}, meta={"count": 2})
    topic.publish({"a": TopicRow(3, SECRET), "b": TopicRow(4)}, meta={"count": 3})
    seen = events(topic.events_since(1, lambda scope: scope == PUBLIC))
    assert seen[0][1]["set"] == {"b": 4}
    assert seen[0][1]["meta"] == {}
    whole = msgspec.json.decode(topic.snapshot(lambda scope: scope == PUBLIC))
    assert (whole["rows"], whole["meta"]) == ({"b": 4}, {})


def test_the_end_of_a_row_is_heard_by_those_alone_who_might_see_it() -> None:
    topic = Topic("t")
    topic.publish({"secret": TopicRow({}, SECRET), "open": TopicRow({})})
    topic.publish({}, ["secret", "open"])
    assert SECRET in topic.scopes()
    (change,) = [data for _, data in events(topic.events_since(1, lambda scope: scope == PUBLIC))]
    assert change["remove"] == ["open"]
    (change,) = [data for _, data in events(topic.events_since(1, lambda scope: True))]
    assert change["remove"] == ["secret", "open"]
