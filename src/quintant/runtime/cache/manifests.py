"""Applying manifests of any kind, known to this program or not, as `kubectl apply` does.

What a kind is called in URLs, and whether it has namespaces, is asked of the server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from quintant.client.rest import APPLY, Rest
from quintant.client.transport import JSON, ApiRequest
from quintant.core import codec
from quintant.core.errors import ConfigError
from quintant.core.object import Model

Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Applier:
    """Applies manifests to one server, in one field manager's name."""

    rest: Rest
    manager: str
    namespace: str = "default"
    """For manifests that name none."""
    _paths: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)

    async def apply(self, manifests: Iterable[Plain]) -> None:
        """Apply manifests one after the other; the first that is refused ends it."""
        for manifest in manifests:
            await self._apply(manifest)

    async def _apply(self, manifest: Plain) -> None:
        path = await self._path(manifest)
        call = ApiRequest(
            "PATCH",
            path,
            {"fieldManager": self.manager, "force": "true"},
            {"accept": JSON, "content-type": APPLY},
            msgspec.json.encode(manifest),
            idempotent=True,
        )
        await self.rest.send(call)

    async def _path(self, manifest: Plain) -> str:
        version, kind = manifest.get("apiVersion", ""), manifest.get("kind", "")
        metadata = manifest.get("metadata") or {}
        if not (version and kind and metadata.get("name")):
            raise ConfigError(
                f"cannot apply {kind or 'a manifest'} {metadata.get('name', '')}".rstrip(),
                because="a manifest needs apiVersion, kind and metadata.name",
            )
        plural, namespaced = await self._resource(version, kind)
        prefix = f"/namespaces/{metadata.get('namespace', self.namespace)}" if namespaced else ""
        return f"{_root(version)}{prefix}/{plural}/{metadata['name']}"

    async def _resource(self, version: str, kind: str) -> tuple[str, bool]:
        if (version, kind) not in self._paths:
            reply = await self.rest.send(
                ApiRequest("GET", _root(version), headers={"accept": JSON})
            )
            for found in codec.decode_reply(reply.body, _Served).resources:
                if "/" not in found.name:
                    self._paths[version, found.kind] = found.name, found.namespaced
        if (version, kind) not in self._paths:
            raise ConfigError(
                f"cannot apply {kind}",
                because=f"the server serves no such kind in {version}",
                hint="apply the CustomResourceDefinition first",
            )
        return self._paths[version, kind]


class _Resource(Model):
    name: str
    kind: str
    namespaced: bool = False


class _Served(Model):
    resources: tuple[_Resource, ...] = ()


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"
