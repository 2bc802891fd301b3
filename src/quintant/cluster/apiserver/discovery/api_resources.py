"""APIResourceList: groups, versions, kinds and subresources that are served, in order.

Every document about the server's own resources (both forms of discovery, OpenAPI) is made of this.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quintant.cluster.apiserver.handlers.pod_streams import DOCUMENTS
from quintant.cluster.apiserver.handlers.subresources import names_of, verbs_of
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.request_info import OTHER_VERB
from quintant.cluster.apiserver.meta.version_order import version_priority

# Subresources whose document is not their parent: group, version and kind, if not the parent's.
_DOCUMENTS = {
    "binding": ("", "", "Binding"),
    **{name: ("", "", document) for name, document in DOCUMENTS.items()},
    "proxy": ("", "", "{}ProxyOptions"),
    "eviction": ("policy", "v1", "Eviction"),
    "scale": ("autoscaling", "v1", "Scale"),
    "token": ("authentication.k8s.io", "v1", "TokenRequest"),
}
# Groups in the order a real server names them; those of custom resources follow by name.
_ORDER = (
    *("apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io"),
    *("authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "networking.k8s.io"),
    *("policy", "rbac.authorization.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io"),
    *("apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io"),
    *("discovery.k8s.io", "resource.k8s.io", "flowcontrol.apiserver.k8s.io"),
)
CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY = 1000, 100
"""What a real server gives the groups of custom resources, beside those of other servers."""


class ServedSubresource(Struct, frozen=True):
    """A subresource, its document's kind and what can be done with it."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    """Of the document, where it is not the parent's; so is the version."""
    version: str = ""


def subresources(kind: Kind) -> list[ServedSubresource]:
    """The subresources of a kind; those of built-in kinds by name."""
    names = names_of(kind)
    return [_subresource(kind, name) for name in (names if kind.custom else sorted(names))]


def groups(catalog: Catalog) -> list[str]:
    """The named groups served, the most important first."""
    served = {kind.resource.group for kind in catalog} - {""}
    known = {name: at for at, name in enumerate(_ORDER)}
    priorities = {group: each.group_priority for (group, _), each in catalog.remote.items()}

    def order(name: str) -> tuple[int, int, str]:
        return known.get(name, len(known)), -priorities.get(name, CUSTOM_GROUP_PRIORITY), name

    return sorted(served | priorities.keys(), key=order)


def versions(catalog: Catalog, group: str) -> list[str]:
    """The versions of a group, the preferred one first."""
    served = {kind.resource.version for kind in catalog.group(group)}
    remote = {
        version: each.version_priority
        for (name, version), each in catalog.remote.items()
        if name == group
    }

    def order(version: str) -> tuple[int, tuple[int, int, int]]:
        return remote.get(version, CUSTOM_VERSION_PRIORITY), version_priority(version)

    return sorted(served | remote.keys(), key=order, reverse=True)


def by_name(kinds: Iterable[Kind]) -> list[Kind]:
    """Kinds in the order of their names in URLs."""
    return sorted(kinds, key=lambda kind: kind.name)


def _subresource(kind: Kind, name: str) -> ServedSubresource:
    group, version, document = _DOCUMENTS.get(name, ("", "", kind.resource.kind))
    verbs = tuple(sorted(verbs_of(kind, name) - {OTHER_VERB}))
    return ServedSubresource(name, document.format(kind.resource.kind), verbs, group, version)
