"""Kinds that kube-apiserver stores, and that no program of the embedded cluster acts on.

They are accepted, validated, listed and watched as by a real server. Documents and the help of
`quintant up` are made from this table, or compared with it.
"""

from __future__ import annotations

from msgspec import Struct


class InertKind(Struct, frozen=True):
    """A kind that nothing acts on."""

    kind: str
    elsewhere: str
    """What a real cluster does with it."""


INERT_KINDS = (
    InertKind("CSIDriver", "says how volumes of a driver are attached and mounted"),
    InertKind("CSINode", "says which drivers a node has"),
    InertKind("CSIStorageCapacity", "says where a driver has room for volumes"),
    InertKind("DeviceClass", "says which devices a claim may ask for"),
    InertKind("FlowSchema", "requests of one flow wait for each other, not for those of others"),
    InertKind("IPAddress", "holds the address of a Service"),
    InertKind("NetworkPolicy", "the network refuses connections"),
    InertKind("PodTemplate", "nothing, either"),
    InertKind("PriorityLevelConfiguration", "limits how many requests are worked on at once"),
    InertKind("ResourceClaim", "holds devices for pods"),
    InertKind("ResourceClaimTemplate", "each pod gets a claim made of it"),
    InertKind("ResourceSlice", "says which devices a node has"),
    InertKind("ServiceCIDR", "Services get their addresses from it"),
    InertKind("VolumeAttachment", "a volume is attached to a node"),
    InertKind("VolumeAttributesClass", "a volume is changed to what it says"),
)


def inert_names() -> str:
    """All of them by name, for a sentence."""
    *others, last = (each.kind for each in INERT_KINDS)
    return f"{', '.join(others)} and {last}"
