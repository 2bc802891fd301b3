"""What tests of handlers stand on: a cluster with a kind, an operator at work, and objects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from quintant.core.errors import NotFound
from quintant.kopf.declare.registry import OperatorRegistry, set_default_registry
from quintant.kopf.run.operator import KopfOperator, OperatorOptions
from quintant.testing import InProcessCluster

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EXAMPLES = "/apis/kopf.dev/v1/namespaces/default/kopfexamples"
PREFIX = "kopf.zalando.org"
LAST_HANDLED = f"{PREFIX}/last-handled-configuration"
FINALIZER = f"{PREFIX}/KopfFinalizerMarker"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(plural: str = "kopfexamples", kind: str = "KopfExample") -> dict[str, Any]:
    """A kind that takes anything, with a status."""
    schema = {"type": "object", "properties": {"spec": ANYTHING, "status": ANYTHING}}
    version = {
        "name": "v1", "served": True, "storage": True,
        "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema},
    }  # fmt: skip
    names: dict[str, Any] = {"kind": kind, "plural": plural, "singular": kind.lower()}
    if kind == "KopfExample":
        names["shortNames"] = ["kex"]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.kopf.dev"},
        "spec": {"group": "kopf.dev", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def fresh_registry() -> OperatorRegistry:
    """A registry that decorators fill from now on."""
    registry = OperatorRegistry()
    set_default_registry(registry)
    return registry


class Examples:
    """Objects of the kind, as any client has them."""

    def __init__(self, cluster: InProcessCluster) -> None:
        self.cluster = cluster

    async def ask(self, method: str, path: str, body: Any = None, kind: str = "json") -> Any:
        types = {"json": "application/json", "merge": "application/merge-patch+json"}
        raw = None if body is None else msgspec.json.encode(body)
        headers = {"content-type": types[kind]}
        return msgspec.json.decode(
            await self.cluster.client.raw(method, path, body=raw, headers=headers)
        )

    async def create(self, name: str = "a", **parts: Any) -> Any:
        metadata = {"name": name, **parts.pop("metadata", {})}
        names = {"apiVersion": "kopf.dev/v1", "kind": "KopfExample", "metadata": metadata}
        return await self.ask("POST", EXAMPLES, {**names, **parts})

    async def get(self, name: str = "a") -> Any:
        return await self.ask("GET", f"{EXAMPLES}/{name}")

    async def find(self, name: str = "a") -> Any:
        try:
            return await self.get(name)
        except NotFound:
            return None

    async def patch(self, patch: Any, name: str = "a") -> Any:
        return await self.ask("PATCH", f"{EXAMPLES}/{name}", patch, "merge")

    async def delete(self, name: str = "a") -> None:
        await self.ask("DELETE", f"{EXAMPLES}/{name}")

    async def eventually(self, holds: Callable[[Any], bool], name: str = "a") -> Any:
        """The object, once something holds of it (None: it is gone)."""
        async with asyncio.timeout(600):
            while not holds(found := await self.find(name)):  # noqa: ASYNC110 - as a client
                await asyncio.sleep(0.5)
        return found

    async def gone(self, name: str = "a") -> None:
        await self.eventually(lambda found: found is None, name)


def annotations_of(obj: Any) -> dict[str, str]:
    found: dict[str, str] = obj["metadata"].get("annotations", {})
    return found


def handled(obj: Any) -> bool:
    """Whether nothing is left to do."""
    return obj is not None and list(annotations_of(obj)) == [LAST_HANDLED]


@asynccontextmanager
async def at_work(
    cluster: InProcessCluster, registry: OperatorRegistry, **options: Any
) -> AsyncIterator[KopfOperator]:
    """An operator of the handlers in a registry."""
    operator = KopfOperator(cluster.environment(), OperatorOptions(registry=registry, **options))
    task = asyncio.ensure_future(operator.run())
    started = asyncio.ensure_future(operator.started.wait())
    try:
        await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        yield operator
    finally:
        started.cancel()
        task.cancel()
        await asyncio.wait({task})


async def with_kind(cluster: InProcessCluster) -> Examples:
    """A cluster that has the kind."""
    examples = Examples(cluster)
    await examples.ask("POST", DEFINITIONS, definition())
    return examples
