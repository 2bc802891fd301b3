"""State sync of a new node: the block that it trusts, read when its pod starts.

    servers of config.toml ──no data yet──> height and hash of one block ──> config.toml

A node that has data goes on from there and asks nobody. Servers that do not agree on the hash are
on different chains, or one of them lies: the pod does not start before somebody has looked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quintant.agents.cosmosnode.chain_home import ChainHome
from quintant.agents.cosmosnode.http_get import FAILURES, GetTarget, get, why
from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.wire import toml
from quintant.wire.comet import MalformedStatus, parse_status
from quintant.wire.foreign import decode_json

TRUST_DISTANCE = 1_000
"""Blocks below the latest: every server has it, and it is far younger than the trust period."""
ANSWER_SECONDS = 10.0
_ANSWER_BYTES = 8 * 1024 * 1024
"""A block carries its transactions."""
_WHAT = "cannot join by state sync"
_HINT = "look at spec.chain.stateSync.rpcServers; it is tried again"

Ask = Callable[[str], Awaitable[bytes]]
"""The body of an answer to a URL; NodeToolError if there is none."""


@dataclass(frozen=True, slots=True)
class TrustedBlock:
    """What a light client begins with."""

    height: int
    hash: str


async def with_trust(table: Mapping[str, Any], home: ChainHome, ask: Ask) -> Mapping[str, Any]:
    """config.toml with the block that is trusted; without state sync if there are data."""
    section = table.get("statesync")
    if not isinstance(section, Mapping) or section.get("enable") is not True:
        return table
    if home.has_data:
        return toml.merge(table, {"statesync": {"enable": False}})
    servers = [each.strip() for each in str(section.get("rpc_servers", "")).split(",")]
    trusted = await trusted_block([each for each in servers if each], ask)
    decided = {"trust_height": trusted.height, "trust_hash": trusted.hash}
    return toml.merge(table, {"statesync": decided})


async def trusted_block(servers: Sequence[str], ask: Ask) -> TrustedBlock:
    """A block that every server has, with the same hash; NodeToolError naming who differs."""
    if not servers:
        raise NodeToolError(_WHAT, "no server is named", _HINT)
    first, *others = (_url(each) for each in servers)
    height = await _trust_height(first, ask)
    hashes = {each: await _hash(each, height, ask) for each in (first, *others)}
    for server, found in hashes.items():
        if found != hashes[first]:
            because = f"{server} and {first} have different blocks at height {height}"
            raise NodeToolError(_WHAT, because, _HINT)
    return TrustedBlock(height, hashes[first])


async def ask_server(url: str) -> bytes:
    """GET of a server's RPC."""
    try:
        status, body = await get(GetTarget.of(url), seconds=ANSWER_SECONDS, most=_ANSWER_BYTES)
    except ValueError as error:
        raise NodeToolError(_WHAT, f"{url}: {error}", _HINT) from None
    except FAILURES as error:
        raise NodeToolError(_WHAT, f"{url}: {why(error)}", _HINT) from None
    if status != 200:
        raise NodeToolError(_WHAT, f"{url} answered with status {status}", _HINT)
    return body


def _url(server: str) -> str:
    """CometBFT takes an address without a scheme for plain HTTP."""
    plain = server.removeprefix("tcp://").rstrip("/")
    return plain if "://" in plain else f"http://{plain}"


async def _trust_height(server: str, ask: Ask) -> int:
    try:
        status = parse_status(await ask(f"{server}/status"))
    except MalformedStatus as error:
        raise NodeToolError(_WHAT, f"{server}: {error}", _HINT) from None
    height = max(status.height - TRUST_DISTANCE, status.earliest, 1)
    if height > status.height:
        raise NodeToolError(_WHAT, f"{server} has no block yet", _HINT)
    return height


async def _hash(server: str, height: int, ask: Ask) -> str:
    body = await ask(f"{server}/block?height={height}")
    try:
        found = decode_json(body)
        found = found.get("result", found)["block_id"]["hash"]
    except (ValueError, KeyError, TypeError, AttributeError):
        found = None
    if not isinstance(found, str) or not found:
        raise NodeToolError(_WHAT, f"{server} has no block at height {height}", _HINT)
    return found
