"""Writers that create, change and delete until their server dies, and a watcher beside them."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import msgspec

from crashtest.ledger import GONE, Data, Ledger, filled
from quintant.client.transport import ApiRequest, Transport
from quintant.core.errors import TransportError

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
OURS = {"labelSelector": "crashtest"}
"""Leaves out what the cluster's own controllers keep there."""
OBJECTS = 5
"""Of each writer: few enough that every one of them is written often."""
DELETED = 0.2
"""The share of deletions among the writes to objects that are there."""
_MERGE = {"content-type": "application/merge-patch+json"}
_JSON = {"content-type": "application/json"}
_TIMEOUT = 30.0
"""Seconds for an answer: a server that hangs is a failure like any other."""


class Refused(Exception):
    """The server said no to a request with which nothing was wrong."""


async def write(transport: Transport, ledger: Ledger, writer: int, random: Random) -> None:
    """Write to a writer's own objects until the server is gone."""
    names = [f"w{writer}-{number}" for number in range(OBJECTS)]
    try:
        while True:
            await _write(transport, ledger, random.choice(names), random)
    except TransportError:
        return


async def watch(transport: Transport, ledger: Ledger) -> None:
    """Note what a watch tells until the server is gone."""
    call = ApiRequest("GET", CONFIG_MAPS, {**OURS, "watch": "true"})
    rest = b""
    try:
        async with transport.stream(call) as stream:
            async for chunk in stream.chunks:
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    _tell(ledger, msgspec.json.decode(line))
    except TransportError:
        return


async def read(transport: Transport) -> tuple[dict[str, Data], int]:
    """Every object of the writers, and the revision of the whole."""
    listed = await _ask(transport, ApiRequest("GET", CONFIG_MAPS, OURS), 200)
    found = {item["metadata"]["name"]: item["data"] for item in listed["items"]}
    return found, int(listed["metadata"]["resourceVersion"])


async def resumes(transport: Transport, revision: int) -> bool:
    """Whether a watch may go on from a revision; if not, the server must have said 410."""
    query = {**OURS, "watch": "true", "resourceVersion": str(revision), "timeoutSeconds": "1"}
    reply = await transport.request(ApiRequest("GET", CONFIG_MAPS, query, timeout=_TIMEOUT))
    events = [msgspec.json.decode(line) for line in reply.body.splitlines()]
    return not any(event["object"].get("code") == 410 for event in events)


async def _write(transport: Transport, ledger: Ledger, name: str, random: Random) -> None:
    there = ledger.state(name) != GONE
    number = GONE if there and random.random() < DELETED else ledger.fresh()
    ledger.ask(name, number)
    path, data = f"{CONFIG_MAPS}/{name}", {"data": filled(number)}
    if number == GONE:
        answer = await _ask(transport, ApiRequest("DELETE", path), 200)
    elif there:
        patch = ApiRequest("PATCH", path, headers=_MERGE, body=msgspec.json.encode(data))
        answer = await _ask(transport, patch, 200)
    else:
        metadata = {"name": name, "labels": {"crashtest": ""}}
        body = msgspec.json.encode({"metadata": metadata, **data})
        answer = await _ask(
            transport, ApiRequest("POST", CONFIG_MAPS, headers=_JSON, body=body), 201
        )
    ledger.acknowledge(name, int(answer["metadata"].get("resourceVersion", 0)))


async def _ask(transport: Transport, call: ApiRequest, code: int) -> Any:
    async with asyncio.timeout(_TIMEOUT):
        reply = await transport.request(call)
    if reply.status != code:
        raise Refused(f"{call}: {reply.status} {reply.body[:500]!r}")
    return msgspec.json.decode(reply.body)


def _tell(ledger: Ledger, event: Any) -> None:
    metadata, number = event["object"]["metadata"], int(event["object"]["data"]["number"])
    tell = ledger.tell_gone if event["type"] == "DELETED" else ledger.tell
    tell(metadata["name"], number, int(metadata["resourceVersion"]))
