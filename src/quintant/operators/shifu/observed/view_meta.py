"""What views hold of an object's metadata, and whose it is."""

from __future__ import annotations

from quintant.core.object import Object, ObjectMeta, Request
from quintant.core.owner import owner_of
from quintant.operators.shifu.observed.interned import NOTHING, device_key, shared


def view_meta(full: ObjectMeta) -> ObjectMeta:
    """Metadata without what no decision needs."""
    return ObjectMeta(
        name=full.name,
        namespace=shared(full.namespace),
        uid=full.uid,
        resource_version=full.resource_version,
        generation=full.generation,
        deletion_timestamp=full.deletion_timestamp,
        labels=NOTHING,
        annotations=NOTHING,
    )


def view_owner(meta: ObjectMeta) -> Request | None:
    """The device that an object was composed for."""
    held = owner_of(Object(metadata=meta))
    return device_key(held.name, held.namespace) if held is not None else None
