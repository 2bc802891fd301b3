"""The answer to /status of every make of node is understood, and garbage is no crash."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from quintant.wire.comet import MalformedStatus, listen_port, parse_status

PARTS: dict[str, Any] = {
    "node_info": {"id": "ab", "network": "hub", "moniker": "m", "version": "0.38.17"},
    "sync_info": {
        "latest_block_height": "254", "latest_block_time": "2026-01-01T00:00:00.5Z",
        "earliest_block_height": "3", "catching_up": False,
    },
    "validator_info": {"voting_power": "0"},
}  # fmt: skip


def test_an_answer_of_comet_and_one_of_sei_are_the_same() -> None:
    enveloped = parse_status(msgspec.json.encode({"jsonrpc": "2.0", "id": -1, "result": PARTS}))
    assert enveloped == parse_status(msgspec.json.encode(PARTS))
    assert (enveloped.network, enveloped.height, enveloped.earliest) == ("hub", 254, 3)
    assert enveloped.catching_up is False


@pytest.mark.parametrize(("height", "number"), [("", 0), ("-1", 0), ("x", 0), ("0", 0), (7, 7)])
def test_a_height_that_is_none_is_zero(height: Any, number: int) -> None:
    sync = {**PARTS["sync_info"], "latest_block_height": height}
    assert parse_status(msgspec.json.encode({**PARTS, "sync_info": sync})).height == number


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"null", b"[]", b"{}", b'{"result": null}', b'{"error": {"message": "no"}}',
     b'{"result": {"node_info": {}, "sync_info": {}}}', b"\xff\xfe"],
)  # fmt: skip
def test_a_body_of_another_shape_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedStatus):
        parse_status(body)


def test_the_words_of_a_server_that_refuses_are_told() -> None:
    with pytest.raises(MalformedStatus, match="malformed status: internal"):
        parse_status(b'{"error": {"code": -32603, "message": "internal"}}')


@given(some.binary(max_size=200))
def test_no_bytes_make_it_fail_otherwise(body: bytes) -> None:
    with pytest.raises(MalformedStatus):
        parse_status(body)


@pytest.mark.parametrize(
    ("address", "port"),
    [("tcp://0.0.0.0:27147", 27147), (":1", 1), ("", 26657), (None, 26657), ("tcp://x", 26657),
     ("tcp://x:99999", 26657), ("tcp://[::1]:7", 7)],
)  # fmt: skip
def test_a_listen_address_has_a_port(address: str | None, port: int) -> None:
    assert listen_port(address, 26657) == port
