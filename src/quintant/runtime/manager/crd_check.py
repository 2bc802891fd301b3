"""Whether the definitions that a cluster has are those that a program was written for.

It may have those of an earlier version, or of another program with the same kinds. Another scope
cannot work, and ends the program; a definition that lacks fields is warned of, and statuses are
written without them. Both are reported in three lines.

What is read is discovery and OpenAPI, which every account may; where one may not, nothing is said.
A kind that is not served at all is what the caches wait for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.core import codec
from quintant.core.errors import ApiError, ConfigError, Undecodable, error_text
from quintant.core.object import Model, Object
from quintant.core.resource import Resource, is_custom_kind, resource_of
from quintant.core.schema.constraints import PRESERVE, Schema
from quintant.core.schema.openapi import schema_of
from quintant.runtime.cache.client import Client
from quintant.runtime.observe import logs

# A server publishes the schema of a definition a moment after it has stored it.
PUBLISHED_SECONDS = 10.0
# Fields that are named; of more, how many.
_NAMED = 3
_GROUP_VERSION_KIND = "x-kubernetes-group-version-kind"
# Every object has them, in a schema of its own.
_COMMON = ("apiVersion", "kind", "metadata")
_PAGE = "docs/upgrading.md"

log: Final = logs.get_logger()


class _ServedKind(Model):
    name: str
    namespaced: bool = False


class _ServedKinds(Model):
    resources: tuple[_ServedKind, ...] = ()


class _Components(Model):
    schemas: Mapping[str, Schema] = {}


class _OpenApi(Model):
    components: _Components = _Components()


async def check_crds(client: Client, kinds: Iterable[type[Object]]) -> None:
    """Compare the installed definitions of our own kinds with what they should be.

    ConfigError if one has another scope. Of missing fields the log has a warning.
    """
    own = [kind for kind in kinds if is_custom_kind(kind)]
    for kind in own:
        await _check_scope(client.rest, resource_of(kind))
    if not await _lacking(client.rest, own):
        return
    await asyncio.sleep(PUBLISHED_SECONDS)
    for kind, fields in (await _lacking(client.rest, own)).items():
        log.warning(lacking_text(kind, fields))


def missing_fields(wanted: Schema, installed: Schema) -> list[str]:
    """The paths of the fields that one schema has and another lacks, the outermost of each."""
    return sorted(_missing(wanted, installed, ""))


def lacking_text(kind: type[Object], fields: list[str]) -> str:
    """What is said of a definition that lacks fields."""
    more = f" and {len(fields) - _NAMED} more" if len(fields) > _NAMED else ""
    return error_text(
        f"the installed {resource_of(kind).full_name} is not this version's definition",
        because=f"it lacks {', '.join(fields[:_NAMED])}{more}; statuses are written without them",
        hint=f"install this version's definitions, then restart: {_PAGE}",
    )


async def _check_scope(rest: Rest, resource: Resource) -> None:
    served = await _read(rest, f"/apis/{resource.api_version}", _ServedKinds)
    scopes = {each.name: each.namespaced for each in served.resources} if served else {}
    if scopes.get(resource.plural, resource.namespaced) == resource.namespaced:
        return
    there, ours = ("Cluster", "Namespaced") if resource.namespaced else ("Namespaced", "Cluster")
    raise ConfigError(
        f"cannot work with the installed {resource.full_name}",
        because=f"its scope is {there}, this version's is {ours}, and no scope can be changed",
        hint=f"keep its objects, replace the definition, and create them again: {_PAGE}",
    )


async def _lacking(rest: Rest, kinds: Iterable[type[Object]]) -> dict[type[Object], list[str]]:
    found = {kind: await _lacking_fields(rest, kind) for kind in kinds}
    return {kind: fields for kind, fields in found.items() if fields}


async def _lacking_fields(rest: Rest, kind: type[Object]) -> list[str]:
    resource = resource_of(kind)
    document = await _read(rest, f"/openapi/v3/apis/{resource.api_version}", _OpenApi)
    schema = _schema_of(resource, document.components.schemas) if document else None
    return missing_fields(_own(schema_of(kind)), schema) if schema else []


def _schema_of(resource: Resource, schemas: Mapping[str, Schema]) -> Schema | None:
    wanted = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    found = (each for each in schemas.values() if wanted in _list(each.get(_GROUP_VERSION_KIND)))
    return next(found, None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _own(schema: Schema) -> Schema:
    properties = schema["properties"].items()
    return {"properties": {name: each for name, each in properties if name not in _COMMON}}


def _missing(wanted: Schema, installed: Schema, path: str) -> Iterator[str]:
    if installed.get(PRESERVE):
        return
    there = installed.get("properties")
    if not isinstance(there, dict):
        there = {}
    for name, schema in wanted.get("properties", {}).items():
        if isinstance(there.get(name), dict):
            yield from _missing(schema, there[name], f"{path}.{name}")
        else:
            yield f"{path}.{name}"
    for inner in ("items", "additionalProperties"):
        ours, theirs = wanted.get(inner), installed.get(inner)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            yield from _missing(ours, theirs, path)


async def _read(rest: Rest, path: str, type: type[Any]) -> Any:
    """A document of the server; None if it has none, or shows it to others only."""
    try:
        reply = await rest.send(ApiRequest("GET", path, {}, {"accept": "application/json"}))
        return codec.decode_reply(reply.body, type)
    except (ApiError, Undecodable):
        return None
