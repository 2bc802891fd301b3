"""ExtractFieldPathAsString, ExtractContainerResourceValue: fields a pod may read.

`metadata.labels['key']`, `status.podIP`, `limits.cpu` and the like, in the words of the API.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal

from msgspec import Struct

from quintant.api.container import Container, ResourceFieldSelector
from quintant.api.pod import Pod
from quintant.api.quantity import Quantity, parse_quantity


class UnknownField(Exception):
    """A field that cannot be given; the text says which."""


class DownwardSource(Struct, frozen=True):
    """A pod, with what only its node knows."""

    pod: Pod
    address: str
    host: str
    node: str
    allocatable: Mapping[str, Quantity]
    """What a container without a limit may use: the node's."""


def field_value(about: DownwardSource, path: str) -> str:
    """The value of a field of the pod."""
    meta, spec = about.pod.metadata, about.pod.spec
    name, _, key = path.removesuffix("']").partition("['")
    if key and name in ("metadata.labels", "metadata.annotations"):
        return (meta.labels if name.endswith("labels") else meta.annotations).get(key, "")
    plain = {
        "metadata.name": meta.name,
        "metadata.namespace": meta.namespace,
        "metadata.uid": meta.uid,
        "metadata.labels": _listed(meta.labels),
        "metadata.annotations": _listed(meta.annotations),
        "spec.nodeName": spec.node_name or about.node,
        "spec.serviceAccountName": spec.service_account_name,
        "status.hostIP": about.host,
        "status.hostIPs": about.host,
        "status.podIP": about.address,
        "status.podIPs": about.address,
    }
    if path not in plain:
        raise UnknownField(f"unsupported fieldPath: {path}")
    return plain[path]


def resource_value(
    about: DownwardSource, wanted: ResourceFieldSelector, container: Container
) -> str:
    """A limit or request of a container, in units of the divisor, rounded up."""
    if wanted.container_name:
        everyone = (*about.pod.spec.containers, *about.pod.spec.init_containers)
        named = [each for each in everyone if each.name == wanted.container_name]
        if not named:
            raise UnknownField(f"container {wanted.container_name} not found")
        container = named[0]
    kind, _, name = wanted.resource.partition(".")
    requested = container.resources.limits if kind == "limits" else container.resources.requests
    fallback = about.allocatable.get(name, "0") if kind == "limits" else "0"
    value = parse_quantity(requested.get(Quantity(name), fallback))
    divisor = parse_quantity(wanted.divisor or "1") or Decimal(1)
    return str((value / divisor).to_integral_value(ROUND_CEILING))


def _listed(pairs: Mapping[str, str]) -> str:
    """Labels or annotations, a line each."""
    return "\n".join(f"{key}={json.dumps(value)}" for key, value in sorted(pairs.items()))
