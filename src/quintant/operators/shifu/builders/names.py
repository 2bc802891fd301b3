"""Names of what is composed for a device, and what all of it carries. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from quintant.core.object import Object, Request
from quintant.operators.shifu.api.names import (
    DEVICE_LABEL,
    DEVICE_NAMESPACE_LABEL,
    DEVICE_UID_LABEL,
    DEVICES,
    OURS,
)
from quintant.operators.shifu.rules.config_names import short_name
from quintant.runtime.apply.names import LABEL_LENGTH, child_name

_PREFIX = "deviceshifu-"
_LONGEST = 52
"""A ReplicaSet and a pod add to it, and 63 is what a Service may have."""
_KEPT = 46
_HASH_LENGTH = 5


@dataclass(frozen=True, slots=True)
class AgentImage:
    """What deviceShifus run."""

    image: str
    command: tuple[str, ...] = ()
    """What starts the agent, where the image does not do it by itself."""
    special_addresses: bool = False
    """Whether devices may be at link-local and such addresses."""


def base_name(key: Request) -> str:
    """The name of a device's Deployment and Service: from its key alone, so that it is found."""
    plain = short_name(key.name)
    base = _PREFIX + plain.replace(".", "-")
    mark = hashlib.sha1(str(key).encode(), usedforsecurity=False).hexdigest()[:_HASH_LENGTH]
    if key.namespace != DEVICES or "." in plain or len(base) > _LONGEST:
        base = f"{base[:_KEPT].rstrip('-')}-{mark}"
    return base


def config_name(key: Request) -> str:
    """The name of the ConfigMap that is generated where a user wrote none."""
    return f"{base_name(key)}-config"


def device_labels(device: Object) -> dict[str, str]:
    """What all objects of a device carry."""
    return {
        "app": base_name(device.key),
        **OURS,
        DEVICE_LABEL: child_name(device.metadata.name, length=LABEL_LENGTH),
        DEVICE_NAMESPACE_LABEL: device.metadata.namespace,
        DEVICE_UID_LABEL: device.metadata.uid,
    }
