"""The documents about the server itself: version, health, groups and resources.

They are made from the catalogue when asked for, so a kind can be discovered the moment it is
served. A path that is none of these does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from quintant.cluster.catalog import Catalog, Kind, Plain
from quintant.cluster.health import is_probe, probe
from quintant.cluster.problems import NoPage, not_allowed
from quintant.cluster.scale import SCALE
from quintant.runtime.client.transport import Call, Reply
from quintant.runtime.resource import Resource
from quintant.version import KUBERNETES

VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
CUSTOM_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
SUB_VERBS = ["get", "patch", "update"]
_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STABILITY = {"alpha": 0, "beta": 1, None: 2}


def discover(catalog: Catalog, call: Call) -> Reply:
    """The answer to a request that is about no resource."""
    if is_probe(call.path):
        return probe(call.path, call.query)
    found = _document(catalog, [part for part in call.path.split("/") if part])
    if found is None:
        raise NoPage()
    if call.method not in ("GET", "HEAD"):
        raise not_allowed()
    return Reply(200, msgspec.json.encode(found) + b"\n")


def _document(catalog: Catalog, parts: list[str]) -> Plain | None:
    match parts:
        case ["version"]:
            return _version()
        case ["api"]:
            return _core_versions()
        case ["api", version]:
            return _resources(catalog, "", version)
        case ["apis"]:
            groups = [_group(catalog, name) for name in _groups(catalog)]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        case ["apis", group] if group in _groups(catalog):
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(catalog, group)}
        case ["apis", group, version]:
            return _resources(catalog, group, version)
    return None


def _version() -> Plain:
    major, minor, _ = KUBERNETES.lstrip("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "gitVersion": KUBERNETES,
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    }


def _core_versions() -> Plain:
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": ""}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def _groups(catalog: Catalog) -> list[str]:
    """Named groups in the order they came to be served: built-in ones first."""
    return [name for name in dict.fromkeys(kind.resource.group for kind in catalog) if name]


def _group(catalog: Catalog, group: str) -> Plain:
    served = {kind.resource.version for kind in catalog.group(group)}
    versions = [
        {"groupVersion": f"{group}/{version}", "version": version}
        for version in sorted(served, key=_priority, reverse=True)
    ]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _priority(version: str) -> tuple[int, int, int]:
    """Stable before beta before alpha, then the higher number."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (-1, 0, 0)
    return _STABILITY[match[2]], int(match[1]), int(match[3] or 0)


def _resources(catalog: Catalog, group: str, version: str) -> Plain | None:
    kinds = catalog.version(group, version)
    if not kinds:
        return None
    listed = [entry for kind in sorted(kinds, key=_plural) for entry in _entries(kind)]
    head = {"kind": "APIResourceList"} | ({"apiVersion": "v1"} if group else {})
    where = f"{group}/{version}" if group else version
    return {**head, "groupVersion": where, "resources": listed}


def _entries(kind: Kind) -> Iterator[Plain]:
    where = kind.resource
    entry: Plain = {
        "name": where.plural,
        "singularName": kind.singular,
        "namespaced": where.namespaced,
        "kind": where.kind,
        "verbs": _verbs(kind),
    }
    if kind.short:
        entry["shortNames"] = list(kind.short)
    if kind.categories:
        entry["categories"] = list(kind.categories)
    yield entry
    if where.status:
        yield _sub_entry(where, "status")
    if kind.scale is not None:
        yield _sub_entry(where, SCALE) | {
            "group": "autoscaling",
            "version": "v1",
            "kind": "Scale",
        }


def _verbs(kind: Kind) -> list[str]:
    if kind.question:
        return ["create"]
    return CUSTOM_VERBS if kind.custom else VERBS


def _sub_entry(where: Resource, sub: str) -> Plain:
    return {
        "name": f"{where.plural}/{sub}",
        "singularName": "",
        "namespaced": where.namespaced,
        "kind": where.kind,
        "verbs": SUB_VERBS,
    }


def _plural(kind: Kind) -> str:
    return kind.name
