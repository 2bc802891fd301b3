"""Handlers of kopf beside a real API server: created, changed, held, and let go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from quintant import Client
from quintant.client.http.transport import HttpTransport
from quintant.core.errors import NotFound
from quintant.kopf import public as kopf
from quintant.kopf.declare.registry import OperatorRegistry
from quintant.kopf.run.operator import OperatorOptions, run_operator
from quintant.runtime.manager.environment import Environment
from unit.kopf.kit import DEFINITIONS, EXAMPLES, FINALIZER, LAST_HANDLED, definition

PATH = f"{EXAMPLES}/real"


async def ask(client: Client, method: str, path: str, body: Any = None) -> Any:
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    raw = None if body is None else msgspec.json.encode(body)
    return msgspec.json.decode(
        await client.raw(method, path, body=raw, headers={"content-type": kind})
    )


async def until(client: Client, holds: Callable[[Any], bool]) -> Any:
    """The object, once something holds of it; None once it is gone."""
    async with asyncio.timeout(30):
        while True:
            try:
                found = await ask(client, "GET", PATH)
            except NotFound:
                found = None
            if holds(found):
                return found
            await asyncio.sleep(0.1)


def handled(size: int) -> Callable[[Any], bool]:
    def holds(found: Any) -> bool:
        kept = found["metadata"].get("annotations", {})
        return list(kept) == [LAST_HANDLED] and f'"size":{size}' in kept[LAST_HANDLED]

    return holds


async def test_an_object_lives_and_goes_as_its_handlers_say(
    client: Client, transport: HttpTransport
) -> None:
    registry, calls, ready = OperatorRegistry(), list[str](), asyncio.Event()

    @kopf.on.create("kex", registry=registry)
    def create(retry: int, **_: Any) -> None:
        calls.append(f"create {retry}")
        if not retry:
            raise kopf.TemporaryError("once more", delay=0.5)

    @kopf.on.field("kex", field="spec.size", registry=registry)
    async def size(old: Any, new: Any, patch: Any, **_: Any) -> None:
        calls.append(f"size {old} {new}")
        patch.status["size"] = new

    @kopf.on.delete("kex", registry=registry)
    async def delete(**_: Any) -> None:
        calls.append("delete")

    await ask(client, "POST", DEFINITIONS, definition())
    options = OperatorOptions(registry=registry, standalone=True)
    work = asyncio.ensure_future(
        run_operator(options, environment=Environment(transport), ready=ready.set)
    )
    try:
        await ready.wait()
        names = {"apiVersion": "kopf.dev/v1", "kind": "KopfExample", "metadata": {"name": "real"}}
        async with asyncio.timeout(30):
            while True:
                try:
                    await ask(client, "POST", EXAMPLES, {**names, "spec": {"size": 1}})
                    break
                except NotFound:  # a definition is served a little after it is stored
                    await asyncio.sleep(0.1)
        found = await until(client, handled(1))
        assert found["metadata"]["finalizers"] == [FINALIZER]
        await ask(client, "PATCH", PATH, {"spec": {"size": 2}})
        found = await until(client, handled(2))
        assert found["status"] == {"size": 2}
        await ask(client, "DELETE", PATH)
        await until(client, lambda found: found is None)
    finally:
        work.cancel()
        await asyncio.wait({work})
        await ask(client, "DELETE", f"{DEFINITIONS}/kopfexamples.kopf.dev")
    assert sorted(calls) == ["create 0", "create 1", "delete", "size 1 2", "size None 1"]
