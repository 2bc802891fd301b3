"""ValidateVolumes: the volumes of a pod: their names and sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.meta.field_errors import duplicate, forbidden, invalid, required
from quintant.cluster.apiserver.meta.names import dns1123_label_errors
from quintant.cluster.apiserver.validation.common import validate_enum, validate_required_name
from quintant.cluster.apiserver.validation.pods.env import field_causes, resource_causes
from quintant.cluster.apiserver.validation.storage import claim_causes
from quintant.core.errors import Cause

Plain = Mapping[str, Any]

MODES = range(0o1000)
LEAST_SECONDS = 600
"""What a token lasts at least."""
_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"
_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations"),
    "metadata.uid",
)
_PATHS = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate"),
    "Socket",
)
# What else a source needs.
_NEEDED = {
    "cephfs": ("monitors",),
    "csi": ("driver",),
    "gitRepo": ("repository",),
    "image": ("reference",),
    "iscsi": ("targetPortal", "iqn"),
    "persistentVolumeClaim": ("claimName",),
}


def volume_causes(path: str, volumes: list[Plain], names: set[str]) -> Iterator[Cause]:
    """What is wrong with volumes; their names are added."""
    for at, volume in enumerate(volumes):
        item_path, name = f"{path}[{at}]", volume.get("name")
        yield from validate_required_name(f"{item_path}.name", name, dns1123_label_errors)
        if name in names:
            yield duplicate(f"{item_path}.name", name)
        names |= {name} if name else set()
        yield from _source_causes(item_path, volume)


def _source_causes(path: str, volume: Plain) -> Iterator[Cause]:
    sources = [source for source in volume if source != "name"]
    for source in sorted(sources, key="emptyDir".__ne__)[1:]:
        yield forbidden(f"{path}.{source}", "may not specify more than 1 volume type")
    for source in sources[:1]:
        for needed in _NEEDED.get(source, ()):
            if not volume[source].get(needed):
                yield required(f"{path}.{source}.{needed}")
        if source in _CAUSES:
            yield from _CAUSES[source](f"{path}.{source}", volume[source])


def _empty_causes(path: str, source: Plain) -> Iterator[Cause]:
    size = source.get("sizeLimit")
    if size is not None and parse_quantity(size) < 0:
        text = "SizeLimit field must be a valid resource quantity"
        yield forbidden(f"{path}.sizeLimit", text)


def host_path_causes(field_path: str, source: Plain) -> Iterator[Cause]:
    """What is wrong with a path of the node."""
    path = source.get("path") or ""
    if not path:
        yield required(f"{field_path}.path")
    yield from _back_causes(f"{field_path}.path", path)
    yield from validate_enum(f"{field_path}.type", source.get("type") or "", _PATHS)


def _map_causes(path: str, source: Plain) -> Iterator[Cause]:
    if not source.get("name"):
        yield required(f"{path}.name")
    yield from _file_causes(path, source)


def _secret_causes(path: str, source: Plain) -> Iterator[Cause]:
    if not source.get("secretName"):
        yield required(f"{path}.secretName")
    yield from _file_causes(path, source)


def _file_causes(path: str, source: Plain) -> Iterator[Cause]:
    yield from _mode_causes(f"{path}.defaultMode", source.get("defaultMode"))
    for at, item in enumerate(source.get("items") or ()):
        item_path = f"{path}.items[{at}]"
        if not item.get("key"):
            yield required(f"{item_path}.key")
        if not item.get("path"):
            yield required(f"{item_path}.path")
        yield from local_causes(f"{item_path}.path", item.get("path") or "")
        yield from _mode_causes(f"{item_path}.mode", item.get("mode"))


def _mode_causes(path: str, mode: int | None) -> Iterator[Cause]:
    if mode is not None and mode not in MODES:
        yield invalid(path, mode, _MODE_TEXT)


def local_causes(path: str, value: str) -> Iterator[Cause]:
    """What is wrong with a path below another."""
    if value.startswith("/"):
        yield invalid(path, value, "must be a relative path")
    yield from _back_causes(path, value)


def _back_causes(path: str, value: str) -> Iterator[Cause]:
    if ".." in value.split("/"):
        yield invalid(path, value, "must not contain '..'")


def _nfs_causes(field_path: str, source: Plain) -> Iterator[Cause]:
    path = source.get("path") or ""
    if not source.get("server"):
        yield required(f"{field_path}.server")
    if not path:
        yield required(f"{field_path}.path")
    if not path.startswith("/"):
        yield invalid(f"{field_path}.path", path, "must be an absolute path")


def _downward_causes(path: str, source: Plain) -> Iterator[Cause]:
    yield from _mode_causes(f"{path}.defaultMode", source.get("defaultMode"))
    for item in source.get("items") or ():
        yield from _pod_file_causes(path, item)


def _pod_file_causes(path: str, item: Plain) -> Iterator[Cause]:
    """What is wrong with a file about the pod; a real server does not say which of them."""
    if not item.get("path"):
        yield required(f"{path}.path")
    yield from local_causes(f"{path}.path", item.get("path") or "")
    if item.get("fieldRef") is not None:
        yield from field_causes(f"{path}.fieldRef", item["fieldRef"], _FIELDS)
    elif item.get("resourceFieldRef") is not None:
        ref = item["resourceFieldRef"]
        yield from resource_causes(f"{path}.resourceFieldRef", ref, volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")


def _projected_causes(path: str, source: Plain) -> Iterator[Cause]:
    yield from _mode_causes(f"{path}.defaultMode", source.get("defaultMode"))
    for at, each in enumerate(source.get("sources") or ()):
        item_path = f"{path}.sources[{at}]"
        for name in ("secret", "configMap"):
            if each.get(name) is not None:
                yield from _map_causes(f"{item_path}.{name}", each[name])
        token = each.get("serviceAccountToken")
        if token is not None:
            yield from _token_causes(path, f"{item_path}.serviceAccountToken", token)


def _token_causes(path: str, token_path: str, token: Plain) -> Iterator[Cause]:
    if token.get("expirationSeconds", LEAST_SECONDS) < LEAST_SECONDS:
        text = "may not specify a duration less than 10 minutes"
        yield invalid(f"{token_path}.expirationSeconds", token["expirationSeconds"], text)
    if not token.get("path"):
        yield required(f"{path}.path")


def _ephemeral_causes(field_path: str, source: Plain) -> Iterator[Cause]:
    template, path = source.get("volumeClaimTemplate"), f"{field_path}.volumeClaimTemplate"
    if template is None:
        yield required(path)
    else:
        yield from claim_causes(f"{path}.spec", template.get("spec") or {})


def _channel_causes(path: str, source: Plain) -> Iterator[Cause]:
    if bool(source.get("targetWWNs")) == bool(source.get("wwids")):
        text = "must specify either targetWWNs or wwids, but not both"
        yield required(f"{path}.targetWWNs", text)


_CAUSES: Mapping[str, Callable[[str, Plain], Iterator[Cause]]] = {
    "configMap": _map_causes,
    "downwardAPI": _downward_causes,
    "emptyDir": _empty_causes,
    "ephemeral": _ephemeral_causes,
    "fc": _channel_causes,
    "hostPath": host_path_causes,
    "nfs": _nfs_causes,
    "projected": _projected_causes,
    "secret": _secret_causes,
}
