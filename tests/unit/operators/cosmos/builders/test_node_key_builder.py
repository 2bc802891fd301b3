"""Node keys are CometBFT's, and their ids are what it prints."""

from __future__ import annotations

import pytest

from quintant.operators.cosmos.builders.node_key_builder import (
    DamagedNodeKey,
    build_node_key,
    parse_node_key,
)


@pytest.mark.parametrize(
    ("seed", "node_id"),
    [
        (bytes(32), "139e3940e64b5491722088d9a0d741628fc826e0"),
        (bytes(range(32)), "56475aa75463474c0285df5dbf2bcab73da65135"),
    ],
)
def test_the_id_follows_from_the_key(seed: bytes, node_id: str) -> None:
    key = build_node_key(seed)
    assert key.node_id == node_id
    assert parse_node_key(key.text) == key


def test_a_key_is_kept_byte_for_byte() -> None:
    spaced = build_node_key(bytes(32)).text.replace(":", ": ")
    assert parse_node_key(spaced).text == spaced


@pytest.mark.parametrize(
    "text", ["", "{}", "nonsense", '{"priv_key": {"value": "AAAA"}}', '{"priv_key": 7}', "[]"]
)
def test_a_damaged_key_is_an_error_that_does_not_show_it(text: str) -> None:
    with pytest.raises(DamagedNodeKey) as caught:
        parse_node_key(text)
    assert "AAAA" not in str(caught.value)


def test_a_key_does_not_show_itself() -> None:
    key = build_node_key(bytes(32))
    assert key.text not in repr(key)
