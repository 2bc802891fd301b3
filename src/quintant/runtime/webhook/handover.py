"""Webhooks whose address moves from a Service to a URL, and back: pure functions.

Manifests name a Service, `--webhook-url` a program on somebody's machine. A webhook has one
address, and an apply would leave the one that another manager wrote beside ours, which no server
accepts. So the address is replaced, and what it was stays in an annotation of the same object:
whoever takes over again, the program that ends or the one in the cluster that starts, puts it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quintant.api.admission import MutatingWebhook, ValidatingWebhook
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.core import codec
from quintant.core.json_pointer import escape_step
from quintant.core.object import Object, Opaque, replace
from quintant.runtime.webhook.configuration import Configuration
from quintant.wire.foreign import MalformedInput, decode_json

FORMER_ADDRESS = "quintant.dev/former-webhook-address"
"""An annotation: where an API server asked before a program moved webhooks to a URL of its own."""

Webhook = MutatingWebhook | ValidatingWebhook
Operation = dict[str, Any]
Plain = Mapping[str, Any]


def former_address(obj: Object) -> Plain:
    """What an object says that it was before it was moved; empty if it was not, or nonsense."""
    try:
        stored = decode_json(obj.metadata.annotations.get(FORMER_ADDRESS, ""))
    except MalformedInput:
        return {}
    return stored if isinstance(stored, dict) else {}


def move_operations(stored: Configuration, wanted: Configuration) -> list[Operation]:
    """The JSON patch after which no webhook names a Service where `wanted` has a URL."""
    addresses = {
        each.name: each.client_config for each in wanted.webhooks if each.client_config.url
    }
    moved = [each for each in _behind_services(stored.webhooks) if each.name in addresses]
    if not moved:
        return []
    former = dict(former_address(stored))
    former |= {each.name: _plain(each.client_config) for each in moved}
    replaced = {each.name: _plain(addresses[each.name]) for each in moved}
    return [*_unchanged(stored), *_addresses(stored, replaced), *_annotated(stored, former)]


def return_operations(stored: Configuration) -> list[Operation]:
    """The JSON patch that gives moved webhooks their former addresses; empty if none was moved."""
    former = {name: each for name, each in former_address(stored).items() if _is_address(each)}
    if not former:
        return []
    forget = {"op": "remove", "path": _pointer(FORMER_ADDRESS)}
    return [*_unchanged(stored), *_addresses(stored, former), forget]


def conversion_annotation(stored: CustomResourceDefinition, conversion: Plain) -> str | None:
    """The annotation of a definition that is to convert like this from now on; None for none."""
    if not _address(conversion).get("url"):
        return None
    before = stored.spec.conversion.value if stored.spec.conversion else {}
    if isinstance(before, dict) and _address(before).get("service"):
        return codec.encode(before).decode()
    return stored.metadata.annotations.get(FORMER_ADDRESS)


def with_conversion(
    stored: CustomResourceDefinition, conversion: Opaque
) -> CustomResourceDefinition:
    """A definition that converts like this, and remembers the Service that it is moved from."""
    annotations = dict(stored.metadata.annotations)
    annotations.pop(FORMER_ADDRESS, None)
    if former := conversion_annotation(stored, conversion.value):
        annotations[FORMER_ADDRESS] = former
    metadata = replace(stored.metadata, annotations=annotations)
    return replace(stored, metadata=metadata, spec=replace(stored.spec, conversion=conversion))


def former_conversion(stored: CustomResourceDefinition) -> Opaque | None:
    """The conversion that a definition had before it was moved, if it was."""
    former = former_address(stored)
    return Opaque.of(former) if _is_address(_address(former)) else None


def _plain(value: Any) -> Any:
    return Opaque.of(value).value


def _behind_services(webhooks: Iterable[Webhook]) -> list[Webhook]:
    return [each for each in webhooks if each.client_config.service is not None]


def _is_address(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("service"), dict)


def _address(conversion: Plain) -> Plain:
    webhook = conversion.get("webhook")
    address = webhook.get("clientConfig") if isinstance(webhook, dict) else None
    return address if isinstance(address, dict) else {}


def _unchanged(stored: Configuration) -> list[Operation]:
    version = stored.metadata.resource_version
    return [{"op": "test", "path": "/metadata/resourceVersion", "value": version}]


def _addresses(stored: Configuration, by_name: Mapping[str, Any]) -> list[Operation]:
    return [
        {"op": "replace", "path": f"/webhooks/{at}/clientConfig", "value": by_name[each.name]}
        for at, each in enumerate(stored.webhooks)
        if each.name in by_name
    ]


def _annotated(stored: Configuration, former: Plain) -> list[Operation]:
    text = codec.encode(former).decode()
    if not stored.metadata.annotations:
        return [{"op": "add", "path": "/metadata/annotations", "value": {FORMER_ADDRESS: text}}]
    return [{"op": "add", "path": _pointer(FORMER_ADDRESS), "value": text}]


def _pointer(annotation: str) -> str:
    return f"/metadata/annotations/{escape_step(annotation)}"
