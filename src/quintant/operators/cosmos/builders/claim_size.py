"""How large the claim of an instance is, once there is one. Pure.

A claim never asks for less than before, nor for more while its volume is large enough.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

from quintant.api.quantity import LARGEST_BINARY, Quantity, bounded_quantity, parse_quantity
from quintant.api.volume import PersistentVolumeClaim
from quintant.operators.cosmos.api.full_node import CosmosFullNode, NodeVolumeClaimTemplate

STORAGE = "storage"
# Drivers round sizes: a little more than asked for makes sure that the volume is above the mark.
_HEADROOM = Decimal("1.02")
_SUFFIXES = (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


def claim_size(
    full_node: CosmosFullNode, template: NodeVolumeClaimTemplate, existing: PersistentVolumeClaim
) -> Quantity:
    """What the claim asks for already, as long as that, or its volume, is large enough.

    A volume that was there before its claim is often larger, and cannot grow.
    """
    wanted = _wanted_size(full_node, template, existing)
    known = existing.spec.resources.requests.get(STORAGE)
    if known is None or parse_quantity(known) == parse_quantity(wanted):
        return wanted
    large_enough = max(parse_quantity(known), _capacity(existing)) >= parse_quantity(wanted)
    return known if large_enough else wanted


def grown(size: Quantity, most: Quantity | None) -> Decimal:
    """What is asked for to have a size: a little more, and never above the most."""
    wanted = (bounded_quantity(size) * _HEADROOM).to_integral_value(ROUND_CEILING)
    return min(wanted, parse_quantity(most)) if most is not None else wanted


def increased(capacity: Decimal, increase: int | str) -> Decimal:
    """A capacity and a percentage of it, or an amount; ValueError if it is neither."""
    if isinstance(increase, str) and increase.endswith("%"):
        part = capacity * Decimal(increase.removesuffix("%")) / 100
        return capacity + part.to_integral_value(ROUND_HALF_UP)
    return capacity + bounded_quantity(increase)


def quantity_of(size: Decimal) -> Quantity:
    """A number of bytes as people write it; a part of a byte counts as one."""
    whole = int(min(size, LARGEST_BINARY).to_integral_value(ROUND_CEILING))
    for suffix, unit in _SUFFIXES:
        if whole and whole % unit == 0:
            return Quantity(f"{whole // unit}{suffix}")
    return Quantity(str(whole))


def _wanted_size(
    full_node: CosmosFullNode, template: NodeVolumeClaimTemplate, existing: PersistentVolumeClaim
) -> Quantity:
    """The larger of what is asked for and what healing asked for."""
    requested = template.resources.requests.get(STORAGE, Quantity("0"))
    healing = full_node.status.self_healing.pvc_auto_scaler if full_node.status else {}
    entry = healing.get(existing.metadata.name)
    if entry is None:
        return requested
    scale = full_node.spec.self_heal.pvc_auto_scale if full_node.spec.self_heal else None
    more = grown(entry.requested_size, scale.max_size if scale else None)
    return quantity_of(more) if more > parse_quantity(requested) else requested


def _capacity(claim: PersistentVolumeClaim) -> Decimal:
    """How large its volume is, if it has one."""
    if claim.status.phase != "Bound" or claim.deleting:
        return Decimal(0)
    return parse_quantity(claim.status.capacity.get(STORAGE, Quantity("0")))
