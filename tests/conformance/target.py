"""A server under test, as every check sees it: requests, and a namespace of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from quintant.client.transport import Transport
from unit.cluster.api import CRDS, JsonObject, Requests

STRATEGIC = "application/strategic-merge-patch+json"
YAML = "application/yaml"
POLL_SECONDS = 0.05
"""How long a check waits before it looks again."""
ATTEMPTS = 600
"""For what follows from a write: a real server remembers good tokens for ten seconds."""

T = TypeVar("T")


async def until(answer: Callable[[], Awaitable[T]], holds: Callable[[T], bool] = bool) -> T:
    """Ask until an answer is as it should be; the last one, whatever it is, when time is up."""
    for _ in range(ATTEMPTS):
        if holds(found := await answer()):
            break
        await asyncio.sleep(POLL_SECONDS)
    return found


class Target(Requests):
    """A server, called by what it is, and a namespace that nobody else uses."""

    def __init__(self, transport: Transport, namespace: str) -> None:
        super().__init__(transport)
        self.namespace = namespace

    def path(self, plural: str, name: str = "", api: str = "v1", sub: str = "") -> str:
        """Where a resource of the namespace is."""
        return self.elsewhere(self.namespace, plural, name, api, sub)

    def elsewhere(
        self, namespace: str, plural: str, name: str = "", api: str = "v1", sub: str = ""
    ) -> str:
        """Where a resource of another namespace is; one without namespaces if that is empty."""
        root = f"/apis/{api}" if "/" in api else f"/api/{api}"
        space = f"namespaces/{namespace}" if namespace else ""
        return "/".join(part for part in (root, space, plural, name, sub) if part)

    async def strategic(self, path: str, patch: Any, *, code: int = 200, **more: Any) -> JsonObject:
        return await self.ask("PATCH", path, patch, code, media=STRATEGIC, **more)

    async def revision(self) -> str:
        """Where the server's history is now."""
        listed = await self.get(self.path("configmaps"))
        revision: str = listed["metadata"]["resourceVersion"]
        return revision

    async def define(self, **version: Any) -> Plural:
        """Serve a custom resource, namespaced, `Foo` by kind, in a group of the namespace's own."""
        group = f"{self.namespace}.example.com"
        await self.create(CRDS, definition(group, **version))
        kind = Plural(self, group)
        await kind.served()
        return kind


class Plural:
    """The custom resource of a check: where it is, and what its objects look like."""

    def __init__(self, target: Target, group: str) -> None:
        self.api = f"{group}/v1"
        self.group = group
        self._target = target

    def path(self, name: str = "", sub: str = "") -> str:
        return self._target.path("foos", name, self.api, sub)

    @property
    def definition(self) -> str:
        return f"{CRDS}/foos.{self.group}"

    def object(self, name: str, metadata: JsonObject | None = None, **content: Any) -> JsonObject:
        return {
            "apiVersion": self.api,
            "kind": "Foo",
            "metadata": {"name": name, **(metadata or {})},
            **content,
        }

    async def served(self) -> None:
        """Wait until objects can be listed: a real server needs a moment."""

        async def served() -> bool:
            return "Established" in await self._conditions() and await self._found()

        assert await until(served), f"{self.definition} is not served"

    async def _conditions(self) -> list[str]:
        found = await self._target.get(self.definition)
        conditions = found.get("status", {}).get("conditions") or []
        return [each["type"] for each in conditions if each["status"] == "True"]

    async def _found(self) -> bool:
        return (await self._target.send("GET", self.path())).status == 200


OPEN: JsonObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""The schema of anything."""


def definition(group: str, schema: JsonObject | None = None, **version: Any) -> JsonObject:
    """A definition of `Foo` in a group."""
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    served = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or OPEN},
        **version,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"foos.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [served]},
    }


def causes(status: JsonObject) -> list[tuple[str, str]]:
    """What a refusal is about: the field and the reason of every cause."""
    found = status["details"].get("causes") or []
    return [(cause.get("field", ""), cause.get("reason", "")) for cause in found]


def owners(obj: JsonObject) -> dict[str, JsonObject]:
    """The fields of every manager of an object."""
    return {
        f"{entry['manager']} {entry['operation']} {entry.get('subresource', '')}".strip(): entry[
            "fieldsV1"
        ]
        for entry in obj["metadata"].get("managedFields") or []
    }


def decoded(body: bytes) -> JsonObject:
    answer: JsonObject = msgspec.json.decode(body)
    return answer
