"""Kinds of others in a test: what a real cluster has of them is not here, so they take any field.

Another project's definition is not known, and making one from the few fields of a view would prune
the others. Kinds that the embedded server has by itself, such as Ingress, are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from quintant.client.transport import JSON, ApiRequest, Transport
from quintant.core.clock import Random
from quintant.core.object import Object
from quintant.core.resource import Resource, is_external_kind, resource_of
from quintant.runtime.manager.install_crds import install_definitions

# What a definition in a group of Kubernetes says to be accepted.
_APPROVAL = {"api-approved.kubernetes.io": "unapproved, for tests only"}


async def install_external_kinds(
    transport: Transport, kinds: Iterable[type[Object]], *, random: Random | None = None
) -> None:
    """Have the server take objects of these kinds, unless it does already."""
    wanted = {resource_of(kind) for kind in kinds if is_external_kind(kind)}
    missing = [each for each in wanted if not await _is_served(transport, each)]
    await install_definitions(transport, map(_lenient, missing), random=random)


async def _is_served(transport: Transport, wanted: Resource) -> bool:
    root = f"/apis/{wanted.api_version}" if wanted.group else f"/api/{wanted.version}"
    reply = await transport.request(ApiRequest("GET", root, headers={"accept": JSON}))
    if reply.status != 200:
        return False
    found = msgspec.json.decode(reply.body)["resources"]
    return any(each["name"] == wanted.plural for each in found)


def _lenient(wanted: Resource) -> dict[str, Any]:
    version = {
        "name": wanted.version,
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        },
        "subresources": {"status": {}} if wanted.status else {},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": wanted.full_name, "annotations": _APPROVAL},
        "spec": {
            "group": wanted.group,
            "names": {"kind": wanted.kind, "plural": wanted.plural},
            "scope": "Namespaced" if wanted.namespaced else "Cluster",
            "versions": [version],
        },
    }
