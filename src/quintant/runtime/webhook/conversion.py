"""Conversion between the versions of a kind, through one of them: the hub.

Each other version is a spoke with two pure functions, to the hub and back, on plain dicts: what a
function does not mention it must carry along, so that no field is lost. `apiVersion` and `kind`
are set here. Of the metadata a function may change labels and annotations; the rest is restored,
as the API server would.

    def up(obj: Plain) -> Plain:
        obj["spec"]["replicas"] = obj["spec"].pop("size", 1)
        return obj
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from quintant.api.admission import ConversionRequest, ConversionResponse
from quintant.core.codec import encode
from quintant.core.errors import Status
from quintant.core.object import Object
from quintant.core.resource import Resource
from quintant.runtime.webhook.failure import WebhookFailure, failing_as

Plain = dict[str, Any]
"""An object as JSON has it: what is converted need not fit a type."""
Convert = Callable[[Plain], Plain]

# One review may carry a whole list; after so many objects, others get their turn on the loop.
TURN_OBJECTS = 50
# What of an object's metadata a conversion may change.
OPEN = ("labels", "annotations")


class Spoke(Struct, frozen=True):
    """A version that is not the hub: how to get to the hub, and how to get back."""

    to_hub: Convert
    from_hub: Convert
    kind: type[Object] | None = None
    """The class of this version; with it the manager's definition of the kind has the version."""


class KindConversion(Struct, frozen=True):
    """The versions of one kind; `hub` is the kind in the version that all others go through."""

    hub: Resource
    spokes: Mapping[str, Spoke]

    def convert(self, obj: Plain, version: str) -> Plain:
        """The object in another version; WebhookFailure when either version is unknown.

        `obj` may be changed on the way.
        """
        source = str(obj.get("apiVersion", "")).rpartition("/")[2]
        if source == version:
            return obj
        metadata = copy.deepcopy(obj.get("metadata", {}))
        for step in self._steps(source, version):
            obj = step(obj)
        return {
            **obj,
            "apiVersion": f"{self.hub.group}/{version}",
            "kind": self.hub.kind,
            "metadata": _restored(metadata, obj.get("metadata", {})),
        }

    def _steps(self, source: str, version: str) -> list[Convert]:
        up = [] if source == self.hub.version else [self._spoke(source).to_hub]
        down = [] if version == self.hub.version else [self._spoke(version).from_hub]
        return up + down

    def _spoke(self, version: str) -> Spoke:
        if version not in self.spokes:
            raise WebhookFailure(
                400, "BadRequest", f"{self.hub.kind} has no version {version!r} here"
            )
        return self.spokes[version]


Conversions = Mapping[tuple[str, str], KindConversion]
"""By group and kind."""


async def convert_all(conversions: Conversions, request: ConversionRequest) -> ConversionResponse:
    """Convert every object of a review, in order; WebhookFailure if one of them cannot be."""
    group, _, version = request.desired_api_version.rpartition("/")
    converted: list[msgspec.Raw] = []
    for raw in request.objects:
        converted.append(_convert(conversions, group, version, raw))
        if len(converted) % TURN_OBJECTS == 0:
            await asyncio.sleep(0)
    result = Status(status="Success")
    return ConversionResponse(uid=request.uid, result=result, converted_objects=tuple(converted))


def _convert(conversions: Conversions, group: str, version: str, raw: msgspec.Raw) -> msgspec.Raw:
    obj = _object(raw)
    kind = str(obj.get("kind", ""))
    conversion = conversions.get((group, kind))
    if conversion is None:
        raise WebhookFailure(
            400, "BadRequest", f"{kind or 'nothing'} of {group!r} is not converted here"
        )
    with failing_as(f"converting {kind} {_name(obj)} to {version}"):
        return msgspec.Raw(encode(conversion.convert(obj, version)))


def _object(raw: msgspec.Raw) -> Plain:
    obj = msgspec.json.decode(raw)
    if not isinstance(obj, dict):
        raise WebhookFailure(400, "BadRequest", "an object to convert must be a JSON object")
    return obj


def _name(obj: Plain) -> str:
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        return "(no name)"
    return "/".join(str(metadata[part]) for part in ("namespace", "name") if part in metadata)


def _restored(original: Plain, converted: Plain) -> Plain:
    kept = {name: value for name, value in original.items() if name not in OPEN}
    return kept | {name: converted[name] for name in OPEN if converted.get(name)}
