"""ValidateEnv, ValidateEnvFrom: variables of containers, and the sources of their values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.meta.field_errors import (
    invalid,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors, qualified_name_errors
from quintant.cluster.apiserver.validation.common import validate_data_key, validate_required_name
from quintant.core.errors import Cause

Plain = Mapping[str, Any]

FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName"),
    *("spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP"),
    "status.podIPs",
)
"""The fields of a pod that a variable may show."""
_KNOWN = (*FIELDS, "metadata.labels", "metadata.annotations", "spec.restartPolicy", "status.phase")
_RESOURCES = (
    *("limits.cpu", "limits.ephemeral-storage", "limits.memory"),
    *("requests.cpu", "requests.ephemeral-storage", "requests.memory"),
)
_HUGE = ("limits.hugepages-", "requests.hugepages-")
_SUBSCRIPT = re.compile(r"(.*)\['(.*)'\]")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_NO_SOURCE = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
    "`fileKeyRef`"
)
_NO_VARIABLE = (
    "a valid environment variable name must consist only of printable ASCII characters other "
    "than '='"
)
_ONE = "may not have more than one field specified at a time"


def variable_causes(path: str, variables: list[Plain]) -> Iterator[Cause]:
    """What is wrong with variables."""
    for at, variable in enumerate(variables):
        item_path, name = f"{path}[{at}]", variable.get("name") or ""
        if not name:
            yield required(f"{item_path}.name")
        else:
            yield from _spelling(f"{item_path}.name", name)
        if variable.get("valueFrom") is not None:
            yield from _source_causes(f"{item_path}.valueFrom", variable)


def import_causes(path: str, imports: list[Plain]) -> Iterator[Cause]:
    """What is wrong with the maps and secrets that are variables as a whole."""
    for at, each in enumerate(imports):
        if each.get("prefix"):
            yield from _spelling(f"{path}[{at}].prefix", each["prefix"])
        given = [name for name in ("configMapRef", "secretRef") if each.get(name) is not None]
        for name in given:
            item_path = f"{path}[{at}].{name}.name"
            yield from validate_required_name(
                item_path, each[name].get("name"), dns1123_subdomain_errors
            )
        if not given:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            yield invalid(path, "", _ONE)


def field_causes(field_path: str, ref: Plain, allowed: tuple[str, ...]) -> Iterator[Cause]:
    """What is wrong with a reference to a field of the pod."""
    path, version = ref.get("fieldPath") or "", ref.get("apiVersion") or ""
    if not path:
        yield required(f"{field_path}.fieldPath")
        return
    plain, _, key = _split(path)
    if why := _unconverted(version, plain, subscripted=plain != path):
        yield invalid(
            f"{field_path}.fieldPath", path, f"error converting fieldPath: {why.format(path)}"
        )
    elif plain != path:
        yield from invalid_each(field_path, key, qualified_name_errors(key))
    elif path not in allowed:
        yield not_supported(f"{field_path}.fieldPath", path, sorted(allowed))


def resource_causes(path: str, ref: Plain, *, volume: bool = False) -> Iterator[Cause]:
    """What is wrong with a reference to what a container asks for."""
    resource = ref.get("resource") or ""
    if volume and not ref.get("containerName"):
        yield required(f"{path}.containerName")
    elif not resource:
        yield required(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(_HUGE):
        yield not_supported(f"{path}.resource", resource, _RESOURCES)


def _split(path: str) -> tuple[str, bool, str]:
    found = _SUBSCRIPT.fullmatch(path)
    return (found[1], True, found[2]) if found else (path, False, "")


def _unconverted(version: str, path: str, *, subscripted: bool) -> str:
    """Why a pod of a version has no such field, if it has none."""
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscripted:
        known = path in ("metadata.labels", "metadata.annotations")
        return "" if known else "field label does not support subscript: {}"
    return "" if path in _KNOWN else "field label not supported: {}"


def _spelling(path: str, name: str) -> Iterator[Cause]:
    if "=" in name or not (name.isascii() and name.isprintable()):
        yield invalid(path, name, _NO_VARIABLE)


def _source_causes(field_path: str, variable: Plain) -> Iterator[Cause]:
    source = variable["valueFrom"]
    given = [name for name in _SOURCES if source.get(name) is not None]
    for name in given:
        path, ref = f"{field_path}.{name}", source[name]
        if name == "fieldRef":
            yield from field_causes(path, ref, FIELDS)
        elif name == "resourceFieldRef":
            yield from resource_causes(path, ref)
        elif name != "fileKeyRef":
            yield from _key_causes(path, ref)
    if not given:
        yield invalid(field_path, "", _NO_SOURCE)
    elif variable.get("value"):
        yield invalid(field_path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        yield invalid(field_path, "", _ONE)


def _key_causes(path: str, ref: Plain) -> Iterator[Cause]:
    name, key = ref.get("name") or "", ref.get("key") or ""
    yield from invalid_each(f"{path}.name", name, dns1123_subdomain_errors(name))
    if not key:
        yield required(f"{path}.key")
    else:
        yield from validate_data_key(f"{path}.key", key)
