"""Kinds that kube-apiserver stores, and that no program of the embedded cluster acts on.

They are accepted, validated, listed and watched as by a real server. Documents, the help of
`quintant up` and what events say of their objects are made from this table, or compared with it.
"""

from __future__ import annotations

from msgspec import Struct


class InertKind(Struct, frozen=True):
    """A kind that nothing acts on."""

    api: str
    """Group and version that are watched."""
    kind: str
    elsewhere: str
    """What a real cluster does with it."""
    namespaced: bool = False
    own: str = ""
    """The one that the API server makes for itself."""


_FLOW, _DEVICES = "flowcontrol.apiserver.k8s.io/v1", "resource.k8s.io/v1"
_NETWORK, _STORAGE = "networking.k8s.io/v1", "storage.k8s.io/v1"

INERT_KINDS = (
    InertKind(_STORAGE, "CSIDriver", "says how volumes of a driver are attached and mounted"),
    InertKind(_STORAGE, "CSINode", "says which drivers a node has"),
    InertKind(_STORAGE, "CSIStorageCapacity", "says where a driver has room for volumes", True),
    InertKind(_DEVICES, "DeviceClass", "says which devices a claim may ask for"),
    InertKind(
        _FLOW, "FlowSchema", "requests of one flow wait for each other, not for those of others"
    ),
    InertKind(_NETWORK, "IPAddress", "holds the address of a Service"),
    InertKind(_NETWORK, "NetworkPolicy", "the network refuses connections", True),
    InertKind("v1", "PodTemplate", "nothing, either", True),
    InertKind(
        _FLOW,
        "PriorityLevelConfiguration",
        "limits how many requests are worked on at once",
    ),
    InertKind(_DEVICES, "ResourceClaim", "holds devices for pods", True),
    InertKind(_DEVICES, "ResourceClaimTemplate", "each pod gets a claim made of it", True),
    InertKind(_DEVICES, "ResourceSlice", "says which devices a node has"),
    InertKind(_NETWORK, "ServiceCIDR", "Services get their addresses from it", own="kubernetes"),
    InertKind(_STORAGE, "VolumeAttachment", "a volume is attached to a node"),
    InertKind(_STORAGE, "VolumeAttributesClass", "a volume is changed to what it says"),
)


def inert_names() -> str:
    """All of them by name, for a sentence."""
    *others, last = (each.kind for each in INERT_KINDS)
    return f"{', '.join(others)} and {last}"
