"""FillObjectMetaSystemFields, GenerateName, BeginCreate: what the server assigns to an object.

Its name if that is to be generated, its uid, the time of its creation, and what its kind assigns:
addresses, ports, the first status.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.metadata_rules import generate_name
from quintant.cluster.apiserver.meta.status import no_unique_name
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.clock import Random

NAME_ATTEMPTS = 8
"""Generated names tried before giving up."""


def assign(draft: Draft, objects: ObjectStore, random: Random, now: str) -> Draft:
    """The draft with what the server assigns, in place; 409 if no generated name is free."""
    obj, target = draft.obj, draft.target
    if draft.base is None:
        target = _name(target, obj["metadata"], objects, random)
        obj["metadata"]["uid"] = random.id()
        obj["metadata"]["creationTimestamp"] = now
    read_at = _assign_by_kind(target, obj, draft.live, objects)
    return replace(draft, target=target, others_read_at=read_at)


def _name(
    target: ObjectRef, metadata: JsonObject, objects: ObjectStore, random: Random
) -> ObjectRef:
    """The target with the object's name, generated if need be."""
    prefix = metadata.get("generateName")
    create = target.kind.strategy.create
    if create.generate_missing_name and not (metadata.get("name") or prefix):
        metadata["name"] = random.id()
    if not metadata.get("name") and prefix:
        for _ in range(NAME_ATTEMPTS):
            metadata["name"] = generate_name(prefix, random)
            if objects.read(target.with_name(metadata["name"])) is None:
                break
        else:
            raise no_unique_name(target.kind.resource, metadata["name"])
    return target.with_name(metadata.get("name", ""))


def _assign_by_kind(
    target: ObjectRef, obj: JsonObject, live: JsonObject | None, objects: ObjectStore
) -> int | None:
    """Let the kind assign, in place; the revision at which other objects were read, if any."""
    assign_fields = target.kind.strategy.assign
    if assign_fields is None:
        return None
    revisions: list[int] = []

    def others() -> Iterator[JsonObject]:
        revisions.append(objects.revision)
        return objects.others(target)

    assign_fields(obj, live, others)
    return revisions[0] if revisions else None
