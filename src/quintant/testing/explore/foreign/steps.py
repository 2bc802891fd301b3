"""What users do in a scenario for a foreign program: requests of an administrator.

They are never disturbed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping

import msgspec

from quintant.client.rest import MERGE
from quintant.client.transport import JSON, ApiRequest, ApiResponse, Transport
from quintant.core.errors import ConfigError
from quintant.core.resource import Resource
from quintant.testing.explore.foreign.scenario_file import (
    Document,
    PatchTarget,
    ScaleStep,
    ScenarioStep,
    TargetName,
)
from quintant.testing.explore.injection.somebody_else import SCRIPT
from quintant.testing.explore.simulation.objects import StoredWorld
from quintant.wire.foreign import MalformedInput, decode_json

APPLY = "application/apply-patch+yaml"
SECRET = "Secret"
"""The kind of which nothing is told but the name."""
_FIRST = ("CustomResourceDefinition", "Namespace")


class StepRefused(Exception):
    """The server refuses what a user does: it would have to be another scenario."""


class ScenarioUser:
    """Does the steps of a scenario."""

    def __init__(self, server: StoredWorld, admin: Transport) -> None:
        """`server` is whose kinds are known, `admin` the way to where it is done."""
        self._server, self._admin = server, admin

    async def perform(self, step: ScenarioStep, manifests: tuple[Document, ...]) -> None:
        """Do one step; StepRefused if the server refuses it."""
        if step.apply is not None:
            await self.apply(manifests)
        elif step.patch is not None:
            await self._patch(step.patch, step.patch.merge)
        elif step.scale is not None:
            await self._scale(step.scale)
        elif step.delete is not None:
            path = self._path(step.delete)
            await self._send("DELETE", path, {"propagationPolicy": "Background"}, gone=True)
        elif step.wait is not None:
            await asyncio.sleep(step.wait)

    async def apply(self, manifests: tuple[Document, ...]) -> None:
        """Apply manifests, definitions and namespaces first."""
        for document in sorted(manifests, key=lambda it: it["kind"] not in _FIRST):
            path = self.path_of(document)
            await self._send("PATCH", path, document, content=APPLY, force="true")

    async def try_out(self, document: Document) -> None:
        """Apply a manifest in a dry run; StepRefused if it is not taken."""
        path = self.path_of(document)
        await self._send("PATCH", path, document, content=APPLY, force="true", dryRun="All")

    def path_of(self, document: Document) -> str:
        """The path of the object that a manifest is of."""
        resource, meta = (
            self._resource(document["kind"], document["apiVersion"]),
            document["metadata"],
        )
        namespace = meta.get("namespace", "default") if resource.namespaced else ""
        return resource.path(namespace, meta["name"])

    async def _patch(self, target: PatchTarget | ScaleStep, merge: Document) -> None:
        await self._send("PATCH", self._path(target), merge, content=MERGE)

    async def _scale(self, target: ScaleStep) -> None:
        change = {"spec": {"replicas": target.replicas}}
        await self._send("PATCH", f"{self._path(target)}/scale", change, content=MERGE)

    def _path(self, target: TargetName | PatchTarget | ScaleStep) -> str:
        resource = self._resource(target.kind)
        return resource.path(target.namespace if resource.namespaced else "", target.name)

    def _resource(self, kind: str, api_version: str = "") -> Resource:
        for each in self._resources():
            if each.kind == kind and api_version in ("", each.api_version):
                return each
        raise ConfigError(
            f"cannot play the scenario: nobody knows the kind {kind} {api_version}".rstrip(),
            because="the cluster has no such definition",
            hint="name its definition under `crds`, or give --crds",
        )

    def _resources(self) -> Iterator[Resource]:
        for kind in self._server.catalog:
            yield kind.resource

    async def _send(
        self,
        method: str,
        path: str,
        body: Document,
        *,
        content: str = JSON,
        gone: bool = False,
        **query: str,
    ) -> None:
        named = {} if method == "DELETE" else {"fieldManager": SCRIPT}
        call = ApiRequest(
            method, path, {**named, **query}, {"content-type": content}, msgspec.json.encode(body)
        )
        answer = await self._admin.request(call)
        if answer.status >= 400 and not (gone and answer.status == 404):
            raise StepRefused(f"{method} {path}: {_message(answer)}")


def _message(answer: ApiResponse) -> str:
    try:
        return str(decode_json(answer.body).get("message", answer.status))
    except (MalformedInput, AttributeError):
        return str(answer.status)


def describe(step: object) -> str:
    """A step as a person reads it."""
    return " ".join(_words(msgspec.to_builtins(step)))


def _words(step: Mapping[str, object]) -> Iterator[str]:
    for action, value in step.items():
        yield action
        match value:
            case {"apiVersion": str(), "kind": str(kind), "metadata": {"name": str(name)}}:
                yield f"{kind} {name}"
            case {"kind": str(kind), "name": str(name), **rest}:
                yield f"{kind} {rest.get('namespace', 'default')}/{name}"
                if kind == SECRET:
                    continue
                if detail := rest.get("merge", rest.get("replicas")):
                    yield msgspec.json.encode(detail).decode()
            case _:
                yield re.sub(r"\s+", " ", str(value))
