"""ValidateObjectMeta: what is wrong with metadata, of an object and of embedded ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    invalid_each,
    limit_errors,
    required,
    too_long,
)
from quintant.cluster.apiserver.meta.names import (
    dns1123_label_errors,
    label_value_errors,
    path_segment_errors,
    qualified_name_errors,
)
from quintant.core.errors import Cause

ANNOTATIONS_LIMIT = 256 * 1024
"""Bytes of all annotations together."""
RIVALS = 20
"""Controllers of one object that are complained of: each complaint shows all of its owners."""
STANDARD_FINALIZERS = frozenset({"kubernetes", "foregroundDeletion", "orphan"})

Metadata = Mapping[str, Any]


def metadata_type_error(value: Any) -> str:
    """What Go says of something in the place of metadata."""
    found = {str: "string", bool: "bool", list: "array"}.get(type(value), "number")
    return f"json: cannot unmarshal {found} into Go value of type v1.ObjectMeta"


def validate_object_meta(
    metadata: Metadata, naming: Callable[[str], list[str]], *, core: bool
) -> Iterator[Cause]:
    """What is wrong with an object's own metadata, given how its kind is named."""
    yield from _name_causes(metadata, naming)
    if "labels" in metadata or "annotations" in metadata:
        yield from limit_errors(validate_labels_and_annotations(metadata))
    if "ownerReferences" in metadata:
        yield from limit_errors(validate_owner_references(metadata))
    if "finalizers" in metadata:
        yield from limit_errors(validate_finalizers(metadata, core=core))


def _name_causes(metadata: Metadata, naming: Callable[[str], list[str]]) -> Iterator[Cause]:
    name, base = metadata.get("name", ""), metadata.get("generateName", "")
    # What a name is made from need not end like one.
    begun = f"{base[:-2]}a" if len(base) > 1 and base.endswith("-") else base
    if begun:
        yield from invalid_each("metadata.generateName", base, naming(begun))
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from invalid_each("metadata.name", name, naming(name))


def validate_embedded_object_meta(metadata: Metadata, path: str) -> Iterator[Cause]:
    """What is wrong with the metadata of an object embedded in another; it may lack a name."""
    for field in ("generateName", "name"):
        name = metadata.get(field) or ""
        yield from invalid_each(f"{path}.{field}", name, path_segment_errors(name))
    if namespace := metadata.get("namespace"):
        yield from invalid_each(f"{path}.namespace", namespace, dns1123_label_errors(namespace))
    if metadata.get("generation", 0) < 0:
        text = "must be greater than or equal to 0"
        yield invalid(f"{path}.generation", metadata["generation"], text)
    yield from validate_labels_and_annotations(metadata, path)
    yield from validate_owner_references(metadata, path)
    yield from validate_finalizers(metadata, path)


def validate_labels_and_annotations(metadata: Metadata, path: str = "metadata") -> Iterator[Cause]:
    """What is wrong with labels and annotations."""
    annotations = metadata.get("annotations") or {}
    for key, value in (metadata.get("labels") or {}).items():
        yield from invalid_each(f"{path}.labels", key, qualified_name_errors(key))
        yield from invalid_each(f"{path}.labels", value, label_value_errors(value))
    for key in annotations:
        yield from invalid_each(f"{path}.annotations", key, qualified_name_errors(key.lower()))
    if annotations_size(annotations) > ANNOTATIONS_LIMIT:
        yield too_long(f"{path}.annotations", ANNOTATIONS_LIMIT)


def annotations_size(annotations: Mapping[str, str]) -> int:
    """The bytes that count towards the limit."""
    return sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())


def validate_owner_references(metadata: Metadata, path: str = "metadata") -> Iterator[Cause]:
    """What is wrong with owner references."""
    owners = metadata.get("ownerReferences") or []
    field, ruling = f"{path}.ownerReferences", list[str]()
    for owner in owners:
        yield from _owner_causes(owner, field)
        if owner.get("controller"):
            ruling.append(f"{owner.get('kind', '')}/{owner.get('name', '')}")
            if 1 < len(ruling) <= RIVALS:
                text = 'Only one reference can have Controller set to true. Found "true" in'
                yield invalid(field, owners, f"{text} references for {ruling[0]} and {ruling[-1]}")


def _owner_causes(owner: Metadata, field: str) -> Iterator[Cause]:
    version = owner.get("apiVersion") or ""
    if not version.rpartition("/")[2]:
        yield invalid(f"{field}.apiVersion", version, "version must not be empty")
    for name in ("kind", "name", "uid"):
        if not owner.get(name):
            yield invalid(f"{field}.{name}", "", "must not be empty")


def validate_finalizers(
    metadata: Metadata, path: str = "metadata", *, core: bool = False
) -> Iterator[Cause]:
    """What is wrong with finalizers; those of built-in kinds need a domain or a standard name."""
    finalizers, field = metadata.get("finalizers") or (), f"{path}.finalizers"
    for finalizer in finalizers:
        yield from invalid_each(field, finalizer, qualified_name_errors(finalizer))
    for at, finalizer in enumerate(finalizers if core else ()):
        yield from validate_finalizer_name(f"{field}[{at}]", finalizer)


def validate_finalizer_name(path: str, finalizer: str) -> Iterator[Cause]:
    """A finalizer of the server's own kinds has a domain in front, or a standard name."""
    if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
        text = "name is neither a standard finalizer name nor is it fully qualified"
        yield invalid(path, finalizer, text)


def validate_no_new_finalizers(metadata: Metadata, live: Metadata) -> Iterator[Cause]:
    """Nobody may add a finalizer to an object that is being deleted."""
    before = live.get("finalizers") or ()
    new = sorted(set(metadata.get("finalizers") or ()) - set(before))
    if new:
        listed = ", ".join(quoted(finalizer) for finalizer in new)
        text = "no new finalizers can be added if the object is being deleted, found new finalizers"
        yield forbidden("metadata.finalizers", f"{text} []string{{{listed}}}")


def finalizer_warnings(metadata: Metadata, live: Metadata | None) -> list[str]:
    """Warnings about new finalizers of a custom resource that others might choose, too."""
    before = (live or {}).get("finalizers") or ()
    new = sorted(set(metadata.get("finalizers") or ()) - set(before))
    return [
        f"metadata.finalizers: {quoted(name)}: prefer a domain-qualified finalizer name"
        f"{' including a path (/)' if '.' in name else ''} to avoid accidental conflicts with "
        "other finalizer writers"
        for name in new
        if "/" not in name and name not in STANDARD_FINALIZERS
    ]
