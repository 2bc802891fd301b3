"""ServiceNodePortRange, ClusterIPNone: ports of services at nodes, and families of addresses."""

from __future__ import annotations

from ipaddress import ip_address

NODE_PORTS = range(30000, 32768)
HEADLESS = "None"
"""The cluster IP of a service that has none."""
PORT_RANGE_ERROR = (
    "provided port is not in the valid range. The range of valid ports is "
    f"{NODE_PORTS.start}-{NODE_PORTS.stop - 1}"
)


def family_of(address: str) -> str:
    """IPv4 or IPv6."""
    return f"IPv{ip_address(address).version}"
