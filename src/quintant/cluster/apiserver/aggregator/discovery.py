"""convertToDiscoveryAPIGroup, fetchFreshDiscoveryForService: what an extension server says. Pure.

It may say anything: what is no list of resources, or is too long, is as good as nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.aggregator.api_service import RemoteApi
from quintant.cluster.apiserver.golang import json

MOST_RESOURCES = 1000
"""Of one version, with subresources: more than there are kinds in a cluster."""
LONGEST_ADDRESS = 1024
"""Characters of the address of an OpenAPI document."""


class UnreadableDiscovery(Exception):
    """An answer that is no list of resources."""


class _Resource(Struct, frozen=True, rename="camel"):
    name: str
    kind: str = ""
    singular_name: str = ""
    namespaced: bool = False
    group: str = ""
    version: str = ""
    verbs: tuple[str, ...] | None = None
    short_names: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None


class _ResourceList(Struct, frozen=True, rename="camel"):
    group_version: str
    resources: tuple[_Resource, ...] | None = None


class _Address(Struct, frozen=True):
    url: str = msgspec.field(name="serverRelativeURL", default="")


class _Index(Struct, frozen=True):
    paths: dict[str, _Address] | None = None


def read_resources(body: bytes, api: RemoteApi) -> tuple[dict[str, Any], ...]:
    """The resources in an APIResourceList, as aggregated discovery has them."""
    found = _read(body, _ResourceList)
    listed = found.resources or ()
    if found.group_version != f"{api.group}/{api.version}" or len(listed) > MOST_RESOURCES:
        raise UnreadableDiscovery(f"no list of the resources of {api.group}/{api.version}")
    entries = {each.name: _entry(each, api) for each in listed if "/" not in each.name}
    for each in listed:
        parent, slash, name = each.name.partition("/")
        if slash and parent in entries:
            subresource = {
                "subresource": name,
                "responseKind": _kind(each, api),
                "verbs": list(each.verbs or ()),
            }
            entries[parent].setdefault("subresources", []).append(subresource)
    return tuple(entries.values())


def read_openapi_address(body: bytes, api: RemoteApi) -> str:
    """Where the OpenAPI document of a version is, as the index of its server has it."""
    found = (_read(body, _Index).paths or {}).get(api.path.lstrip("/"))
    usual = f"/openapi/v3{api.path}"
    url = found.url if found is not None else ""
    known = url == usual or url.startswith(f"{usual}?hash=")
    return url if known and url.isprintable() and len(url) <= LONGEST_ADDRESS else ""


def _read(body: bytes, model: type[Any]) -> Any:
    try:
        return msgspec.convert(json.decode(body), type=model)
    except (json.NotJson, msgspec.ValidationError) as error:
        raise UnreadableDiscovery(str(error)) from None


def _entry(resource: _Resource, api: RemoteApi) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "resource": resource.name,
        "responseKind": _kind(resource, api),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular_name,
        "verbs": list(resource.verbs or ()),
    }
    named = {"shortNames": resource.short_names, "categories": resource.categories}
    return entry | {name: list(values) for name, values in named.items() if values}


def _kind(resource: _Resource, api: RemoteApi) -> dict[str, str]:
    return {
        "group": resource.group or api.group,
        "version": resource.version or api.version,
        "kind": resource.kind,
    }
