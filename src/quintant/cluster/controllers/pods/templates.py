"""GetPodFromTemplate, ComputeHash: templates reach pods byte for byte, and have a hash.

A template is opaque. Of its metadata, labels, annotations and finalizers go into a pod, as on a
real cluster; its spec goes there whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2s
from typing import Any

import msgspec

from quintant.api.core import Pod
from quintant.core.object import Model, Object, ObjectMeta, Opaque
from quintant.core.owner import owned
from quintant.core.resource import projection

HASH_LABEL = "pod-template-hash"
"""The label that tells the pods of a Deployment's revisions apart."""
HASH_BYTES = 4
"""As many as the hash of a real cluster has: names keep their length."""
NAME_LENGTH = 253
_REMEMBERED = 1024
"""Templates whose readings are kept: a cluster in a process has few more."""
_ALPHABET = "456789bcdf"
"""What a real cluster writes for the digits 0 to 9, so that no hash spells a word."""


class TemplateMeta(Model):
    """What of a template's metadata goes into its pods."""

    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    finalizers: tuple[str, ...] = ()


class Template(Model):
    """A template, looked into as far as necessary."""

    metadata: TemplateMeta = TemplateMeta()
    spec: msgspec.Raw = msgspec.Raw(b"{}")


@projection(Pod)
class NewPod(Object):
    """A pod to be made: its spec is a template's."""

    spec: Opaque = Opaque(b"{}")


@lru_cache(_REMEMBERED)
def parse_template(template: Opaque) -> Template:
    """The parts of a template."""
    return msgspec.json.decode(template.raw, type=Template)


@lru_cache(_REMEMBERED)
def canonical_template(template: Opaque) -> bytes:
    """What makes two templates the same: everything but the order and the label of their hash."""
    value = template.value
    labels = value.get("metadata", {}).get("labels") or {}
    labels.pop(HASH_LABEL, None)
    return msgspec.json.encode(value, order="sorted")


def template_hash(template: Opaque, collisions: int | None) -> str:
    """A short name for a template, another one for each count of collisions."""
    return short_hash(canonical_template(template), collisions)


def short_hash(content: bytes, collisions: int | None) -> str:
    """A hash for names and labels, written as a real cluster writes one."""
    salt = b"" if collisions is None else collisions.to_bytes(HASH_BYTES, "little")
    digest = blake2s(content + salt, digest_size=HASH_BYTES).digest()
    return "".join(_ALPHABET[int(digit)] for digit in str(int.from_bytes(digest, "big")))


def with_template_labels(template: Opaque, labels: Mapping[str, str]) -> Opaque:
    """The template with labels added."""
    value: dict[str, Any] = template.value
    meta = value.setdefault("metadata", {})
    meta["labels"] = {**(meta.get("labels") or {}), **labels}
    return Opaque.of(value)


def pod_from_template(template: Opaque, owner: Object) -> NewPod:
    """A pod from a template, with a name to be generated from its owner's."""
    parts, meta = parse_template(template), owner.metadata
    # A prefix ends with a dash as long as the name that comes of it is valid.
    prefix = f"{meta.name}-" if len(meta.name) < NAME_LENGTH else meta.name
    made = NewPod(
        metadata=ObjectMeta(
            generate_name=prefix,
            namespace=meta.namespace,
            labels=parts.metadata.labels,
            annotations=parts.metadata.annotations,
            finalizers=parts.metadata.finalizers,
        ),
        spec=Opaque(bytes(parts.spec)),
    )
    return owned(made, by=owner)
