"""Definitions as a server accepts them: the embedded one judges, in this process.

What is compared afterwards has the right types, defaults, and one version that is stored; and
objects can be judged by it as by a real server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from quintant.cli.apply.manifest_files import JsonObject
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.errors import ApiError, ConfigError

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JSON = {"content-type": "application/json", "accept": "application/json"}


class AcceptedDefinitions:
    """A server that has definitions, and nothing else."""

    def __init__(self) -> None:
        self.rest: Rest = Rest(InProcessTransport(ApiServer()))
        self.definitions: list[JsonObject] = []

    async def add(self, definitions: Iterable[JsonObject], origin: str) -> None:
        """Take definitions; ConfigError says why a server refuses one."""
        for definition in definitions:
            self.definitions.append(await self._added(definition, origin))

    async def create(self, path: str, obj: JsonObject, **query: str) -> JsonObject:
        """Create an object, or say with an ApiError why not."""
        body = msgspec.json.encode(obj)
        reply = await self.rest.send(ApiRequest("POST", path, query, JSON, body))
        created: JsonObject = msgspec.json.decode(reply.body)
        return created

    async def _added(self, definition: JsonObject, origin: str) -> JsonObject:
        bare = {**definition, "metadata": new_metadata(definition["metadata"])}
        bare.pop("status", None)
        try:
            accepted = await self.create(DEFINITIONS, bare)
        except ApiError as error:
            raise ConfigError(
                f"{origin} has a definition that no server takes: {bare['metadata']['name']}",
                because=str(error),
                hint="mend it; kubectl apply --dry-run=server says the same",
            ) from error
        return {**accepted, "status": {"storedVersions": _stored(definition)}}


def new_metadata(metadata: JsonObject) -> JsonObject:
    """What a new object of the same name says of itself."""
    kept = ("name", "namespace", "labels", "annotations")
    return {key: metadata[key] for key in kept if key in metadata}


def _stored(definition: JsonObject) -> list[Any]:
    status = definition.get("status")
    versions = status.get("storedVersions") if isinstance(status, dict) else None
    found = versions if isinstance(versions, list) else []
    return [version for version in found if isinstance(version, str)]
