"""ValidateSecret, ValidateConfigMap: keys, what a type needs, and `immutable`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, required, too_long
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    validate_data_key,
    validate_immutable,
)
from quintant.core.errors import Cause

MOST_BYTES = 1024 * 1024
"""What the values of a Secret or a ConfigMap may be, keys not counted."""
_FROZEN = "field is immutable when `immutable` is set"
_ACCOUNT = "kubernetes.io/service-account.name"
# What the data of a secret of some type has to hold; one of them is enough for basic-auth.
_HELD = {
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_BASIC = ("username", "password")


def validate_secret(secret: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a Secret."""
    data, kind = secret.get("data") or {}, secret.get("type", "")
    if live is not None:
        yield from validate_immutable("type", kind, live.get("type"))
        yield from _frozen_causes(secret, live, "data")
    yield from _key_causes("data", data)
    if sum(map(_decoded_size, data.values())) > MOST_BYTES:
        yield too_long("data", MOST_BYTES)
    yield from (required(f"data[{key}]") for key in _HELD.get(kind, ()) if key not in data)
    if kind == "kubernetes.io/ssh-auth" and data.get("ssh-privatekey") == "":
        yield required("data[ssh-privatekey]")
    if kind == "kubernetes.io/basic-auth" and not any(key in data for key in _BASIC):
        yield from (required(f"data[{key}]") for key in _BASIC)
    annotations = secret["metadata"].get("annotations") or {}
    if kind == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT):
        yield required(f"metadata.annotations[{_ACCOUNT}]")


def validate_config_map(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a ConfigMap."""
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in data:
        yield from _key_causes("data", {key: ""})
        if key in binary:
            yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    yield from _key_causes("binaryData", binary)
    size = sum(len(text.encode()) for text in data.values())
    if size + sum(map(_decoded_size, binary.values())) > MOST_BYTES:
        # A real server names no field here.
        yield too_long("[]", MOST_BYTES)
    if live is not None:
        yield from _frozen_causes(obj, live, "data", "binaryData")


def _decoded_size(text: str | None) -> int:
    """The bytes behind base64, without decoding them."""
    text = text or ""
    return len(text) * 3 // 4 - (len(text) - len(text.rstrip("=")))


def _key_causes(field: str, data: JsonObject) -> Iterator[Cause]:
    for key in data:
        yield from validate_data_key(f"{field}[{key}]", key)


def _frozen_causes(obj: JsonObject, live: JsonObject, *fields: str) -> Iterator[Cause]:
    if not live.get("immutable"):
        return
    if not obj.get("immutable"):
        yield forbidden("immutable", _FROZEN)
    for field in fields:
        if (obj.get(field) or {}) != (live.get(field) or {}):
            yield forbidden(field, _FROZEN)


SECRETS_CONFIGMAPS: dict[str, Callable[[JsonObject, JsonObject | None], Iterator[Cause]]] = {
    "configmaps": validate_config_map,
    "secrets": validate_secret,
}
