"""Server-side apply and deletion of manifests of any kind that a server serves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from quintant.cli.apply.manifest_files import JsonObject, Manifest
from quintant.cli.apply.rollout import pending
from quintant.client.discovery import ServedResource, discover
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.core.errors import ConfigError, Conflict, NotFound
from quintant.core.resource import Resource

MANAGER = "quintant-apply"
"""Field manager; `--prune` touches only what it has applied."""
POLL_SECONDS = 0.5
_FIRST = ("Namespace", "CustomResourceDefinition")
_APPLY = {"content-type": "application/apply-patch+yaml", "accept": "application/json"}
_JSON = {"content-type": "application/json", "accept": "application/json"}

Say = Callable[[str], None]
Progress = Callable[[str], None]


class ManifestTarget(Struct, frozen=True):
    """An object of a server."""

    resource: Resource
    namespace: str
    name: str

    @property
    def path(self) -> str:
        return self.resource.path(self.namespace, self.name)

    def __str__(self) -> str:
        group = f".{self.resource.group}" if self.resource.group else ""
        return f"{self.resource.kind.lower()}{group}/{self.name}"


class ManifestWriter:
    """Writes manifests to a server, and waits for what they ask for."""

    def __init__(self, rest: Rest, namespace: str, timeout: float, progress: Progress) -> None:
        self._rest, self._namespace = rest, namespace
        self._timeout, self._progress = timeout, progress
        self._served: Sequence[ServedResource] = ()

    async def apply(
        self, manifests: Iterable[Manifest], say: Say, *, force: bool = False
    ) -> list[ManifestTarget]:
        """Apply everything, namespaces and definitions first; the objects, in order."""
        ordered = sorted(manifests, key=_phase)
        applied = []
        for manifest in ordered:
            target = await self._locate(manifest, ordered)
            say(f"{target} {await self._apply(manifest, target, force)}")
            applied.append(target)
        return applied

    async def delete(
        self, manifests: Iterable[Manifest], say: Say, *, ignore_missing: bool
    ) -> list[ManifestTarget]:
        """Delete everything, in the opposite order; the objects that were there."""
        deleted = []
        for manifest in sorted(manifests, key=_phase, reverse=True):
            try:
                target = await self._locate(manifest, ())
                await self._delete(target)
            except (NotFound, ConfigError):
                if not ignore_missing:
                    raise
                continue
            say(f"{target} deleted")
            deleted.append(target)
        return deleted

    async def prune(self, labels: str, kept: Sequence[ManifestTarget], say: Say) -> None:
        """Delete what has labels, was applied by us before, and is not among the kept."""
        keep = {target.path for target in kept}
        for target in await self._labelled(labels):
            if target.path not in keep:
                await self._delete(target)
                say(f"{target} pruned")

    async def wait_ready(self, targets: Iterable[ManifestTarget]) -> None:
        """Wait until every object is what was asked for; ConfigError after the timeout."""
        for target in targets:
            await self._wait(target, lambda obj: "it is gone" if obj is None else pending(obj))

    async def wait_gone(self, targets: Iterable[ManifestTarget]) -> None:
        """Wait until no object is there any more; ConfigError after the timeout."""
        for target in targets:
            await self._wait(target, lambda obj: "" if obj is None else "it is still there")

    async def _locate(self, manifest: Manifest, beside: Iterable[Manifest]) -> ManifestTarget:
        resource = await self._resource(manifest, any(m.kind == _FIRST[1] for m in beside))
        namespace = manifest.namespace or self._namespace if resource.namespaced else ""
        return ManifestTarget(resource, namespace, manifest.name)

    async def _resource(self, manifest: Manifest, soon: bool) -> Resource:
        """The kind of a manifest; it may be served only in a moment, if it was just defined."""
        tries = int(self._timeout / POLL_SECONDS) if soon else 1
        for left in reversed(range(max(tries, 1))):
            found = _find(self._served, manifest)
            if found is None:
                self._served = await discover(self._rest)
                found = _find(self._served, manifest)
            if found is not None:
                return found
            if left:
                self._progress(f"waiting until {manifest.kind} is served")
                await asyncio.sleep(POLL_SECONDS)
        raise ConfigError(
            f"there is no kind {manifest.kind} of {manifest.api_version}",
            because=f"the server does not serve it, and {manifest.origin} has one",
            hint="apply its CustomResourceDefinition first",
        )

    async def _apply(self, manifest: Manifest, target: ManifestTarget, force: bool) -> str:
        query = {"fieldManager": MANAGER, **({"force": "true"} if force else {})}
        body = msgspec.json.encode(manifest.obj)
        call = ApiRequest("PATCH", target.path, query, _APPLY, body, idempotent=True)
        try:
            reply = await self._rest.send(call)
        except Conflict as error:
            raise ConfigError(
                f"cannot apply {target}",
                because=str(error),
                hint="--force-conflicts takes them over",
            ) from None
        return "created" if reply.status == 201 else "applied"

    async def _delete(self, target: ManifestTarget) -> None:
        body = msgspec.json.encode({"propagationPolicy": "Background"})
        await self._rest.send(ApiRequest("DELETE", target.path, {}, _JSON, body))

    async def _labelled(self, labels: str) -> list[ManifestTarget]:
        if not self._served:
            self._served = await discover(self._rest)
        found = []
        for served in self._served:
            if served.preferred and {"list", "delete", "patch"} <= served.verbs:
                listed = await self._read(served.resource.path(), labelSelector=labels)
                found += [
                    _target(served.resource, item)
                    for item in (listed or {}).get("items") or ()
                    if _is_ours(item)
                ]
        return found

    async def _wait(self, target: ManifestTarget, look: Callable[[JsonObject | None], str]) -> None:
        message = ""
        for _ in range(max(int(self._timeout / POLL_SECONDS), 1)):
            message = look(await self._read(target.path))
            if not message:
                return
            self._progress(f"waiting for {target}: {message}")
            await asyncio.sleep(POLL_SECONDS)
        raise ConfigError(
            f"{target} is not what was asked for after {self._timeout:g} s",
            because=message,
            hint=f"quintant describe {target}",
        )

    async def _read(self, path: str, **query: str) -> JsonObject | None:
        try:
            reply = await self._rest.send(
                ApiRequest("GET", path, query, {"accept": _JSON["accept"]})
            )
            found: JsonObject = msgspec.json.decode(reply.body)
        except NotFound:
            return None
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise ConfigError(f"cannot read {path}", because=f"it is no object: {error}") from None
        return found


def _phase(manifest: Manifest) -> int:
    return _FIRST.index(manifest.kind) if manifest.kind in _FIRST else len(_FIRST)


def _find(served: Iterable[ServedResource], manifest: Manifest) -> Resource | None:
    wanted = (manifest.api_version, manifest.kind)
    return next(
        (
            each.resource
            for each in served
            if (each.resource.api_version, each.resource.kind) == wanted
        ),
        None,
    )


def _target(resource: Resource, item: JsonObject) -> ManifestTarget:
    metadata: dict[str, Any] = item["metadata"]
    return ManifestTarget(resource, metadata.get("namespace", ""), metadata["name"])


def _is_ours(item: JsonObject) -> bool:
    fields = (item.get("metadata") or {}).get("managedFields") or ()
    return any(f.get("manager") == MANAGER and f.get("operation") == "Apply" for f in fields)
