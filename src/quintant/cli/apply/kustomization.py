"""A folder with a kustomization: the fields that gather files, and no more.

`resources` (files, and folders with kustomizations), `namespace`, `labels` without selectors,
`commonAnnotations` and `images` are understood. Whatever else there is would change the result, so
it is refused by its name: `kubectl kustomize DIR | quintant apply -f -` does the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quintant.cli.apply.manifest_files import JsonObject, Manifest, read_manifests
from quintant.core.errors import ConfigError
from quintant.core.yaml import load

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
DEEPEST = 20
"""Kustomizations inside each other: more is a circle."""
_KNOWN = frozenset(
    {"apiVersion", "kind", "resources", "namespace", "labels", "commonAnnotations", "images"}
)
CLUSTER_SCOPED = frozenset(
    {
        "Namespace",
        "CustomResourceDefinition",
        "ClusterRole",
        "ClusterRoleBinding",
        "PersistentVolume",
        "StorageClass",
        "PriorityClass",
        "IngressClass",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "APIService",
        "Node",
    }
)
"""Kinds that `namespace` leaves alone."""


def build(folder: Path, depth: int = 0) -> list[Manifest]:
    """The objects of a kustomization; ConfigError for what is not understood."""
    if depth > DEEPEST:
        raise ConfigError(f"cannot build {folder}", because="its kustomizations are in a circle")
    path = next((folder / name for name in NAMES if (folder / name).is_file()), None)
    if path is None:
        raise ConfigError(f"cannot build {folder}", because=f"there is no {NAMES[0]} in it")
    document = load(path.read_bytes(), str(path))
    if not isinstance(document, dict):
        raise ConfigError(f"cannot build {folder}", because=f"{path} is no mapping")
    if unknown := sorted(str(field) for field in {*document} - _KNOWN):
        raise _not_understood(path, unknown[0])
    made = list(_resources(folder, _list(path, document, "resources"), depth))
    for manifest in made:
        _change(path, document, manifest.obj)
    return made


def _resources(folder: Path, entries: list[Any], depth: int) -> Iterator[Manifest]:
    for entry in entries:
        path = folder / str(entry)
        if "://" in str(entry):
            raise ConfigError(f"cannot read {entry}", because="only files of this machine are read")
        yield from build(path, depth + 1) if path.is_dir() else read_manifests([path])


def _change(path: Path, document: JsonObject, obj: JsonObject) -> None:
    """What the kustomization says of all its objects, in place."""
    metadata = obj["metadata"]
    namespace = document.get("namespace")
    if namespace and obj["kind"] not in CLUSTER_SCOPED:
        metadata["namespace"] = str(namespace)
    for entry in _list(path, document, "labels"):
        if not isinstance(entry, dict) or {*entry} - {"pairs"}:
            raise _not_understood(path, "labels with selectors or templates")
        metadata["labels"] = {**(metadata.get("labels") or {}), **(entry.get("pairs") or {})}
    if annotations := document.get("commonAnnotations"):
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    images = {str(image.get("name")): image for image in _list(path, document, "images")}
    if images:
        _replace_images(obj, images)


def _replace_images(part: Any, images: dict[str, JsonObject]) -> None:
    """Change `image` of every container below a part of an object."""
    if isinstance(part, list):
        for item in part:
            _replace_images(item, images)
    elif isinstance(part, dict):
        for field in ("containers", "initContainers"):
            for container in part.get(field) or ():
                if isinstance(container, dict) and isinstance(container.get("image"), str):
                    container["image"] = _image(container["image"], images)
        for value in part.values():
            _replace_images(value, images)


def _image(text: str, images: dict[str, JsonObject]) -> str:
    bare, _, digest = text.partition("@")
    head, slash, last = bare.rpartition("/")
    name, _, tag = last.partition(":")
    found = images.get(f"{head}{slash}{name}")
    if found is None:
        return text
    new = str(found.get("newName") or f"{head}{slash}{name}")
    if found.get("digest"):
        return f"{new}@{found['digest']}"
    if found.get("newTag"):
        return f"{new}:{found['newTag']}"
    return new + (f"@{digest}" if digest else f":{tag}" if tag else "")


def _list(path: Path, document: JsonObject, field: str) -> list[Any]:
    value = document.get(field) or []
    if not isinstance(value, list):
        raise ConfigError(f"cannot read {path}", because=f"{field} is no list")
    return value


def _not_understood(path: Path, field: str) -> ConfigError:
    return ConfigError(
        f"cannot build {path.parent}",
        because=f"{path.name} has {field}, which is not understood here",
        hint=f"kubectl kustomize {path.parent} | quintant apply -f -",
    )
