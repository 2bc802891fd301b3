"""Services of a kept cluster get other addresses if another cluster has its share of loopback.

Clients cannot change an address; a server that has not begun to serve can. The new address of a
service is the old one in the other network, so that a cluster which goes back has its old ones.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Any

import msgspec

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.host.loopback import SHARES, is_service_ip

SERVICES = "services"
API = "default/kubernetes"


class _Service(msgspec.Struct, frozen=True):
    spec: dict[str, Any]


def api_service_ip(store: RevisionStore) -> str:
    """The address at which the API server of a store was a service; empty if it never was."""
    entry = store.table(SERVICES).entries.get(API)
    return "" if entry is None else str(stored_json.read(entry, _Service).spec.get("clusterIP", ""))


def renumber_services(store: RevisionStore, network: IPv4Network) -> None:
    """Give the services of a store addresses of a network, where they have another cluster's."""
    kind = next(kind for kind in builtin_kinds() if kind.resource.full_name == SERVICES)
    table = store.table(SERVICES)
    for key, entry in list(table.entries.items()):
        service = stored_json.unpack(kind, entry)
        if _moved(service["spec"], network):
            store.put(table, key, stored_json.pack(kind, service))


def _moved(spec: JsonObject, network: IPv4Network) -> bool:
    """Change the addresses of a service in place; whether there was something to change."""
    old = spec.get("clusterIP", "")
    now = _address(old, network)
    if now == old:
        return False
    spec["clusterIP"], spec["clusterIPs"] = now, [now]
    return True


def _address(old: str, network: IPv4Network) -> str:
    for share in SHARES:
        if share.services != network and is_service_ip(share, old):
            at = int(IPv4Address(old)) - int(share.services.network_address)
            return str(network[at])
    return old
