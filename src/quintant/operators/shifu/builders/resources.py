"""How much a deviceShifu may use: as measured for each protocol, or as its device says. Pure."""

from __future__ import annotations

from quintant.api.core import ResourceRequirements
from quintant.api.quantity import Quantity
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.operators.shifu.rules.hints import Device, Hints

_USUAL = (40 * MEBIBYTE, 96 * MEBIBYTE)
_BY_PROTOCOL = {"OPCUA": (80 * MEBIBYTE, 160 * MEBIBYTE)}
"""Requested and allowed; the library for OPC UA alone takes 50 MB."""
_CPU = Quantity("10m")


def memory_request(device: Device, hints: Hints) -> int:
    """Bytes that a node must have free for a device."""
    return hints.memory or _BY_PROTOCOL.get(device.spec.protocol, _USUAL)[0]


def agent_resources(device: Device, hints: Hints) -> ResourceRequirements:
    """What the agent is promised and held to."""
    requested = memory_request(device, hints)
    most = max(_BY_PROTOCOL.get(device.spec.protocol, _USUAL)[1], 2 * requested)
    return ResourceRequirements(
        requests={"cpu": _CPU, "memory": _quantity(requested)}, limits={"memory": _quantity(most)}
    )


def _quantity(amount: int) -> Quantity:
    whole, rest = divmod(amount, MEBIBYTE)
    return Quantity(str(amount) if rest else f"{whole}Mi")
