"""The answer to /status of every make of node is understood, and garbage is no crash."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from quintant.wire.comet import HEIGHT_LIMIT, MalformedStatus, listen_port, parse_status

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


@pytest.mark.parametrize(
    ("height", "number"), [("0", 0), (7, 7), (str(HEIGHT_LIMIT), HEIGHT_LIMIT)]
)
def test_a_height_is_a_number_or_its_digits(height: Any, number: int) -> None:
    assert parse_status(_with(latest_block_height=height)).height == number


NO_HEIGHTS: list[Any] = [
    "", "-1", -1, "x", "NaN", "1e9", 1e9, True, None, [], {}, "\u0661", "1_0", " 1", "9" * 5000,
    str(HEIGHT_LIMIT + 1), HEIGHT_LIMIT + 1, 2**63, str(2**63), str(2**64),
]  # fmt: skip


@pytest.mark.parametrize("height", NO_HEIGHTS)
@pytest.mark.parametrize("name", ["latest_block_height", "earliest_block_height"])
def test_a_height_that_cannot_be_is_no_answer(name: str, height: Any) -> None:
    with pytest.raises(MalformedStatus, match=f"{name}|another shape"):
        parse_status(_with(**{name: height}))


@pytest.mark.parametrize(
    "moment", ["yesterday", 7, "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "2" * 300, None]
)
def test_a_time_that_cannot_be_is_no_answer(moment: Any) -> None:
    with pytest.raises(MalformedStatus, match="latest_block_time"):
        parse_status(_with(latest_block_time=moment))


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789Z"])
def test_a_time_of_comet_is_one(moment: str) -> None:
    assert parse_status(_with(latest_block_time=moment)).block_time == moment


def test_older_nodes_leave_out_their_earliest_block() -> None:
    sync = {"latest_block_height": "7", "catching_up": False}
    status = parse_status(msgspec.json.encode({**PARTS, "sync_info": sync}))
    assert (status.height, status.earliest, status.block_time) == (7, 0, "")


@pytest.mark.parametrize("name", ["network", "id", "moniker", "version"])
@pytest.mark.parametrize("text", ["x" * 257, 7, [], True])
def test_a_name_that_is_no_short_text_is_no_answer(name: str, text: Any) -> None:
    body = msgspec.json.encode({**PARTS, "node_info": {**PARTS["node_info"], name: text}})
    with pytest.raises(MalformedStatus, match=name):
        parse_status(body)


@pytest.mark.parametrize("opening", [b"[", b'{"result":'])
def test_a_deep_body_is_malformed(opening: bytes) -> None:
    with pytest.raises(MalformedStatus):
        parse_status(opening * 50_000)


def _with(**sync: Any) -> bytes:
    return msgspec.json.encode({**PARTS, "sync_info": {**PARTS["sync_info"], **sync}})


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
