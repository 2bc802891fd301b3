from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.golang.depth import DEEPEST, make_room
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.patch.json_patch import (
    MAX_COPIED,
    MAX_OPERATIONS,
    apply_patch,
    same,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab~/"), inner, max_size=3)
    ),
    max_leaves=8,
)


def op(word: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": word, "path": path, **more}


@pytest.mark.parametrize(
    ("document", "operation", "result"),
    [
        ({}, op("add", "/a", value=1), {"a": 1}),
        ({"a": [1]}, op("add", "/a/0", value=0), {"a": [0, 1]}),
        ({"a": [1]}, op("add", "/a/1", value=2), {"a": [1, 2]}),
        ({"a": [1]}, op("add", "/a/-", value=2), {"a": [1, 2]}),
        ({"a": [1, 2]}, op("add", "/a/-1", value=0), {"a": [1, 2, 0]}),
        ({"a": [1, 2]}, op("add", "/a/-3", value=0), {"a": [0, 1, 2]}),
        ({"a": 1}, op("remove", "/a"), {}),
        ({"a": [1, 2]}, op("remove", "/a/-1"), {"a": [1]}),
        ({"a": 1}, op("replace", "/a", value=2), {"a": 2}),
        ({}, op("replace", "/a", value=2), {"a": 2}),
        ({"a": [1, 2]}, op("replace", "/a/1", value=0), {"a": [1, 0]}),
        ({"a": 1}, op("move", "/b", **{"from": "/a"}), {"b": 1}),
        ({"a": [1]}, op("copy", "/b", **{"from": "/a"}), {"a": [1], "b": [1]}),
        ({"a": 1}, op("test", "/a", value=1), {"a": 1}),
        ({}, op("test", "/a", value=None), {}),
        ({}, op("add", "a", value=1), {}),
        ({"a/b": {"c~d": 1}}, op("replace", "/a~1b/c~0d", value=2), {"a/b": {"c~d": 2}}),
        ({"a": 1}, op("replace", "", value={"b": 2}), {"b": 2}),
    ],
)
def test_operations_do_what_a_real_server_does(document: Any, operation: Any, result: Any) -> None:
    assert apply_patch(document, [operation]) == result


@pytest.mark.parametrize(
    ("document", "operation"),
    [
        ({}, op("add", "/a/b", value=1)),
        ({}, op("replace", "/a/b", value=1)),
        ({"a": [1]}, op("add", "/a/2", value=1)),
        ({"a": [1]}, op("add", "/a/x", value=1)),
        ({"a": [1]}, op("replace", "/a/1", value=1)),
        ({}, op("remove", "/a")),
        ({"a": 1}, op("test", "/a", value=2)),
        ({"a": True}, op("test", "/a", value=1)),
        ({"a": 1}, op("add", "/a/b", value=1)),
        ({}, op("move", "/b", **{"from": "/a"})),
        ({}, op("unheard", "/a")),
        ({}, {"path": "/a"}),
        ({}, {"op": "add"}),
    ],
)
def test_an_operation_that_fails_is_unprocessable(document: Any, operation: Any) -> None:
    with pytest.raises(StatusError) as refused:
        apply_patch(document, [operation])
    assert refused.value.code == 422
    text = "the server rejected our request due to an error in our request"
    assert (refused.value.message, refused.value.details) == (text, {})


@pytest.mark.parametrize("body", [{"op": "add"}, "x", None, [1]])
def test_only_a_list_of_operations_is_a_patch(body: Any) -> None:
    with pytest.raises(StatusError) as refused:
        apply_patch({}, body)
    assert refused.value.code == 400


def test_too_many_operations_are_too_large() -> None:
    with pytest.raises(StatusError) as refused:
        apply_patch({}, [op("add", "/a", value=1)] * (MAX_OPERATIONS + 1))
    assert refused.value.code == 413


@given(VALUES, VALUES)
def test_a_copied_value_is_independent_of_its_source(first: Any, second: Any) -> None:
    document = apply_patch({"a": {"x": first}}, [op("copy", "/b", **{"from": "/a"})])
    changed = apply_patch(document, [op("replace", "/b/x", value=second)])
    assert same(changed["a"]["x"], first)
    assert same(changed["b"]["x"], second)


@given(VALUES, VALUES)
def test_after_an_add_the_test_of_it_holds(document: Any, value: Any) -> None:
    root = {"a": document}
    assert apply_patch(root, [op("add", "/a", value=value), op("test", "/a", value=value)])


def test_copies_that_double_are_stopped() -> None:
    doubling = [op("copy", f"/a/{at}", **{"from": "/a"}) for at in range(60)]
    with pytest.raises(StatusError) as refused:
        apply_patch({"a": {}}, doubling)
    assert refused.value.code == 422


def test_copies_up_to_the_limit_are_made() -> None:
    text = "x" * (MAX_COPIED // 4 - 2)
    copies = [op("copy", f"/{at}", **{"from": "/a"}) for at in range(4)]
    assert apply_patch({"a": text}, copies)["3"] == text
    with pytest.raises(StatusError):
        apply_patch({"a": text}, [*copies, op("copy", "/b", **{"from": "/a"})])


def test_a_patch_cannot_nest_a_document_without_end() -> None:
    make_room()
    deeper = [op("copy", "/a/b", **{"from": "/a"}) for _ in range(DEEPEST)]
    with pytest.raises(StatusError) as refused:
        apply_patch({"a": {}}, deeper)
    assert refused.value.code == 422
