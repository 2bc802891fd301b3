"""What a cluster has stored, judged by new definitions: who would be refused, and what be lost.

Each object is created once more in the embedded server, as a dry run: unknown fields are what a
new schema drops, and complaints are what the next write of the object would meet.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from quintant.cli.apply.manifest_files import JsonObject
from quintant.cli.crd.accepted import AcceptedDefinitions, new_metadata
from quintant.cli.look.objects import read
from quintant.client.rest import Rest
from quintant.core.errors import ApiError, BadRequest, NotFound

PAGE = "500"
_NAMESPACES = "/api/v1/namespaces"


@dataclass(frozen=True, slots=True)
class JudgedObject:
    """A stored object that does not fit a new definition."""

    definition: str
    namespace: str
    name: str
    complaints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedKind:
    """How many objects of a kind were judged, those that do not fit, or why none could be."""

    definition: str
    objects: int
    unfit: tuple[JudgedObject, ...]
    because: str = ""
    """Why its objects could not be judged."""


class StoredObjects:
    """Judges the objects of a cluster, kind by kind."""

    def __init__(self, live: Rest, accepted: AcceptedDefinitions) -> None:
        self._live, self._accepted = live, accepted
        self._namespaces = {""}

    async def judge(self, old: JsonObject, new: JsonObject) -> JudgedKind:
        """Judge all objects of one definition."""
        name, version = new["metadata"]["name"], _common_version(old, new)
        if not version:
            because = "no version is served before and after: only its conversion knows"
            return JudgedKind(name, 0, (), because)
        path = f"/apis/{new['spec']['group']}/{version}"
        count, unfit = 0, []
        try:
            async for obj in self._objects(f"{path}/{old['spec']['names']['plural']}"):
                count += 1
                if complaints := await self._complaints(path, new, obj):
                    meta = obj["metadata"]
                    unfit.append(
                        JudgedObject(name, meta.get("namespace", ""), meta["name"], complaints)
                    )
        except NotFound:
            return JudgedKind(name, 0, (), "the cluster does not serve it")
        return JudgedKind(name, count, tuple(unfit))

    async def _objects(self, path: str) -> AsyncIterator[JsonObject]:
        page = ""
        while True:
            found = await read(self._live, path, limit=PAGE, **{"continue": page})
            for obj in found.get("items") or ():
                yield obj
            page = found["metadata"].get("continue") or ""
            if not page:
                return

    async def _complaints(self, path: str, new: JsonObject, obj: JsonObject) -> tuple[str, ...]:
        names = new["spec"]["names"]
        namespace = obj["metadata"].get("namespace", "")
        await self._provide_namespace(namespace)
        scope = f"/namespaces/{namespace}" if namespace else ""
        target = f"{path}{scope}/{names['plural']}"
        bare = {**obj, "metadata": new_metadata(obj["metadata"])}
        bare |= {"apiVersion": path.removeprefix("/apis/"), "kind": names["kind"]}
        return tuple(dict.fromkeys([each async for each in self._refusals(target, bare)]))

    async def _refusals(self, target: str, obj: JsonObject) -> AsyncIterator[str]:
        for validation in ("Strict", "Ignore"):
            try:
                await self._accepted.create(target, obj, dryRun="All", fieldValidation=validation)
            except BadRequest as error:
                lost = "it would lose a field: " if validation == "Strict" else ""
                yield f"{lost}{error.message}"
            except ApiError as error:
                for text in _causes(error):
                    yield text

    async def _provide_namespace(self, name: str) -> None:
        if name not in self._namespaces:
            self._namespaces.add(name)
            if name not in ("default", "kube-system", "kube-public", "kube-node-lease"):
                await self._accepted.create(_NAMESPACES, {"metadata": {"name": name}})


def _causes(error: ApiError) -> Iterator[str]:
    if not error.causes:
        yield str(error)
    for cause in error.causes:
        yield f"{cause.field}: {cause.message}" if cause.field else cause.message


def _common_version(old: JsonObject, new: JsonObject) -> str:
    """A version that is served before and after; the one that is stored if it is such."""
    before = {each["name"]: each for each in old["spec"]["versions"] if each["served"]}
    after: list[dict[str, Any]] = [
        each for each in new["spec"]["versions"] if each["served"] and each["name"] in before
    ]
    stored_first = sorted(after, key=lambda each: not each["storage"])
    return str(stored_first[0]["name"]) if stored_first else ""
