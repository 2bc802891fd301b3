"""What a CometBFT node says of itself: the answer to GET /status, as far as anybody here reads it.

Integers are strings on this wire. The three parts of an answer stand below `result`, or, with
forks such as Sei's, at the top. A body of any other shape is malformed, never a crash.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

RPC_PORT = 26657
P2P_PORT = 26656
HEALTH_PORT = 1251
"""Where the sidecar tells whether its node is in sync, and how full its disk is."""
_PORT = re.compile(r":([0-9]{1,5})$")
_HEIGHT = re.compile(r"[0-9]{1,20}", re.ASCII)


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


def parse_status(body: bytes) -> CometStatus:
    """The status in an answer; MalformedStatus if there is none."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise MalformedStatus("malformed status: no JSON") from None
    parts = _parts(found)
    node, sync = parts.get("node_info"), parts.get("sync_info")
    if not isinstance(node, dict) or not isinstance(sync, dict):
        raise MalformedStatus(f"malformed status{_refusal(found)}")
    catching = sync.get("catching_up")
    if not isinstance(catching, bool):
        raise MalformedStatus("malformed status: catching_up is missing")
    return CometStatus(
        network=_text(node.get("network")),
        height=_height(sync.get("latest_block_height")),
        catching_up=catching,
        block_time=_text(sync.get("latest_block_time")),
        earliest=_height(sync.get("earliest_block_height")),
        node_id=_text(node.get("id")),
        moniker=_text(node.get("moniker")),
        version=_text(node.get("version")),
    )


def listen_port(address: str | None, default: int) -> int:
    """The port of a listen address such as tcp://0.0.0.0:26657; the default if it has none."""
    found = _PORT.search(address or "")
    number = int(found[1]) if found else 0
    return number if 0 < number < 65536 else default


def _parts(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        return {}
    if "validator_info" in found:
        return found
    result = found.get("result")
    return result if isinstance(result, dict) else {}


def _refusal(found: Any) -> str:
    """The server's own words, if it said why."""
    error = found.get("error") if isinstance(found, dict) else None
    said = error.get("message") if isinstance(error, dict) else error
    return f": {said[:200]}" if isinstance(said, str) and said else ""


def _height(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return max(value, 0)
    return int(value) if isinstance(value, str) and _HEIGHT.fullmatch(value) else 0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
