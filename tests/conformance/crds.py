"""Definitions for the checks of custom resources, and how their answers are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from conformance.target import Plural, Target, definition, until
from quintant.client.transport import ApiResponse
from unit.cluster.api import CRDS, MERGE, JsonObject

_WARNING = re.compile(r'299 - "((?:[^"\\]|\\.)*)"')
# A real server names the type of `self` anew for every definition.
_SELF_TYPE = re.compile(r"selfType\d+")

Causes = set[tuple[str, str, str]]
"""Reason, field and message of every cause: a real server tells some of them in any order."""


def causes(reply: ApiResponse) -> Causes:
    """What is wrong, by a refusal; nothing if it is none."""
    details = body(reply).get("details") or {} if reply.status >= 400 else {}
    return {
        (
            each.get("reason", ""),
            each.get("field", ""),
            _SELF_TYPE.sub("selfType", each.get("message", "")),
        )
        for each in details.get("causes") or ()
    }


def body(reply: ApiResponse) -> JsonObject:
    found: JsonObject = msgspec.json.decode(reply.body)
    return found


def warnings(reply: ApiResponse) -> list[str]:
    """What a client is told beside the answer."""
    found = _WARNING.findall(reply.headers.get("warning", ""))
    return sorted(text.replace('\\"', '"').replace("\\\\", "\\") for text in found)


def fields(**properties: Any) -> JsonObject:
    """The schema of an object with these fields."""
    return {"type": "object", "properties": properties}


def spec(**properties: Any) -> JsonObject:
    """The schema of an object whose spec has these fields."""
    return fields(spec=fields(**properties))


def text(limit: int = 20, **more: Any) -> JsonObject:
    return {"type": "string", "maxLength": limit, **more}


def ruled(schema: JsonObject, *rules: str | Mapping[str, Any]) -> JsonObject:
    """A schema with rules."""
    listed = [{"rule": rule} if isinstance(rule, str) else dict(rule) for rule in rules]
    return {**schema, "x-kubernetes-validations": listed}


async def tried(target: Target, schema: JsonObject, **version: Any) -> ApiResponse:
    """What a server says to a definition that is not kept."""
    crd = definition(f"{target.namespace}.example.com", schema, **version)
    return await target.send("POST", CRDS, crd, dryRun="All")


async def posted(target: Target, kind: Plural, content: JsonObject, name: str = "a") -> ApiResponse:
    """What a server says to an object that is not kept."""
    obj = kind.object(name, spec=content)
    return await target.send("POST", kind.path(), obj, dryRun="All")


async def changed(target: Target, path: str, change: Callable[[JsonObject], None]) -> ApiResponse:
    """Change a definition as often as others change it, too; when it took effect is not told."""
    while True:
        found = await target.get(path)
        change(found)
        reply = await target.send("PUT", path, found)
        if reply.status != 409:
            return reply


async def redefined(target: Target, kind: Plural, schema: JsonObject) -> None:
    """Change the schema of a definition."""

    def change(crd: JsonObject) -> None:
        crd["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema}

    reply = await changed(target, kind.definition, change)
    assert reply.status == 200, reply.body


async def eventually(target: Target, path: str, holds: Callable[[JsonObject], bool]) -> JsonObject:
    """An object as soon as it is as it should be; AssertionError if it does not become so."""

    async def ask() -> JsonObject:
        reply = await target.send("GET", path)
        return body(reply) if reply.status == 200 else {}

    found: JsonObject = await until(ask, lambda obj: bool(obj) and holds(obj))
    assert found, path
    assert holds(found), found
    return found


async def gone(target: Target, path: str) -> None:
    """Wait until nothing is found at a path."""

    async def ask() -> int:
        return (await target.send("GET", path)).status

    assert await until(ask, lambda code: bool(code == 404)) == 404


async def merged(target: Target, path: str, patch: JsonObject, **query: Any) -> ApiResponse:
    """What a server says to a merge patch, as soon as it can be asked: after a change of a
    definition a real one needs a moment."""

    async def ask() -> ApiResponse:
        return await target.send("PATCH", path, patch, media=MERGE, **query)

    found: ApiResponse = await until(ask, lambda reply: bool(reply.status != 429))
    return found


def conditions(crd: JsonObject) -> dict[str, tuple[str, str, str]]:
    """The conditions of a definition by type: status, reason and message."""
    found = crd["status"].get("conditions") or ()
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in found}


def plain(obj: JsonObject) -> JsonObject:
    """An object without what differs between any two."""
    metadata = obj["metadata"]
    kept = ("name", "labels", "annotations", "generation", "finalizers")
    return {**obj, "metadata": {key: metadata[key] for key in kept if key in metadata}}
