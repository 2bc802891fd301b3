"""What a CometBFT node says of itself: the answer to GET /status, as far as anybody here reads it.

Integers are strings on this wire. The three parts of an answer stand below `result`, or, with
forks such as Sei's, at the top. A body of any other shape is malformed, never a crash; so is one
whose heights, times or names cannot be: what is read from here fits into a status.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from quintant.wire.foreign import MalformedInput, decode_json

RPC_PORT = 26657
P2P_PORT = 26656
HEALTH_PORT = 1251
"""Where the sidecar tells whether its node is in sync, and how full its disk is."""
_PORT = re.compile(r":([0-9]{1,5})$")
HEIGHT_LIMIT = 2**53 - 2
"""The one after it is the largest whole number that every reader of JSON has, and that the schema
of a status can name; at a block a second it is reached in 285 million years."""
TEXT_LENGTH = 256
"""Characters: names of chains have at most 50, monikers 70."""
_DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)
T = TypeVar("T")


class MalformedStatus(ValueError):
    """A body that is no answer to /status."""


class CometStatus(msgspec.Struct, frozen=True):
    """Where a node is."""

    network: str
    height: int
    """The latest block it stored; 0 right after genesis."""
    catching_up: bool
    block_time: str = ""
    """Of that block, as RFC 3339."""
    earliest: int = 0
    """The first block it has: above 1 after state sync or pruning."""
    node_id: str = ""
    moniker: str = ""
    version: str = ""
    """Of its CometBFT."""


class _PeerCount(msgspec.Struct):
    n_peers: str | int


class _NetInfo(msgspec.Struct):
    result: _PeerCount


def parse_status(body: bytes) -> CometStatus:
    """The status in an answer; MalformedStatus if there is none."""
    document = decode_answer(body, object)
    parts = _parts(document)
    node, sync = parts.get("node_info"), parts.get("sync_info")
    if not isinstance(node, dict) or not isinstance(sync, dict):
        raise MalformedStatus(f"malformed status{_refusal(document)}")
    catching = sync.get("catching_up")
    if not isinstance(catching, bool):
        raise MalformedStatus("malformed status: catching_up is missing")
    return CometStatus(
        network=_text(node, "network"),
        height=whole_number(sync.get("latest_block_height"), "latest_block_height"),
        catching_up=catching,
        block_time=_moment(sync, "latest_block_time"),
        earliest=whole_number(sync.get("earliest_block_height", 0), "earliest_block_height"),
        node_id=_text(node, "id"),
        moniker=_text(node, "moniker"),
        version=_text(node, "version"),
    )


def parse_peers(body: bytes) -> int:
    """How many peers a node has, from an answer to /net_info; MalformedStatus if it has none."""
    return whole_number(decode_answer(body, _NetInfo).result.n_peers, "n_peers")


def decode_answer(body: bytes, kind: type[T]) -> T:
    """An answer of a node as a type; MalformedStatus whatever else it is."""
    try:
        return decode_json(body, kind)
    except MalformedInput:
        raise MalformedStatus("malformed status: no JSON, or of another shape") from None


def whole_number(value: object, name: str) -> int:
    """A height or a count, as a number or its digits; MalformedStatus if it cannot be one."""
    number = int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= HEIGHT_LIMIT:
        return number
    raise MalformedStatus(f"malformed status: {name} is no height or count")


def listen_port(address: str | None, default: int) -> int:
    """The port of a listen address such as tcp://0.0.0.0:26657; the default if it has none."""
    found = _PORT.search(address or "")
    number = int(found[1]) if found else 0
    return number if 0 < number < 65536 else default


def _parts(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        return {}
    if "validator_info" in document:
        return document
    result = document.get("result")
    return result if isinstance(result, dict) else {}


def _refusal(document: Any) -> str:
    """The server's own words, if it said why."""
    error = document.get("error") if isinstance(document, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return f": {message[:200]}" if isinstance(message, str) and message else ""


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name, "")
    if isinstance(value, str) and len(value) <= TEXT_LENGTH:
        return value
    raise MalformedStatus(f"malformed status: {name} is no short text")


def _moment(part: Mapping[str, Any], name: str) -> str:
    """A moment as it came; empty if it is left out."""
    text = _text(part, name)
    try:
        if not text or datetime.fromisoformat(text).tzinfo is not None:
            return text
    except ValueError:
        pass
    raise MalformedStatus(f"malformed status: {name} is no moment")
