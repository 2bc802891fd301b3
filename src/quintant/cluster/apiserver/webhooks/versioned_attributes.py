"""NewVersionedAttributes: the objects of a change, as another version of their kind shows them."""

from __future__ import annotations

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.webhooks.attributes import Attributes


async def versioned_object(
    attributes: Attributes, kind: Kind, obj: JsonObject | None
) -> JsonObject | None:
    """An object of the request as a version shows it; what subresources speak has only one."""
    if (
        obj is None
        or kind is attributes.kind
        or attributes.document is not attributes.kind.resource
    ):
        return obj
    return await convert_version(attributes.kind, kind, obj)


async def convert_version(source: Kind, target: Kind, obj: JsonObject) -> JsonObject:
    """An object of one version as another shows it, with the metadata it has."""
    if source.strategy.conversion.convert_for_write is not None:
        await source.strategy.conversion.convert_for_write(obj)
    entry = stored_json.pack(source, obj)
    if target.strategy.conversion.convert_for_read is not None:
        await target.strategy.conversion.convert_for_read((entry,))
    return {**stored_json.unpack(target, entry), "metadata": obj["metadata"]}
