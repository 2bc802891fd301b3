"""Programs that run in pods, each a module or package with a function `main(arguments)`.

An agent stands alone: it loads neither the runtime nor the cluster, so that its process is small
and starts at once. `quintant agent NAME` runs one, in an image and on the embedded node alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

AGENTS: dict[str, str] = {
    "cosmosnode": "Runs beside a node of a Cosmos chain: configuration, health, versions.",
    "deviceshifu": "Speaks a device's protocol on one side, and HTTP on the other (shifu).",
    "echo": "A web program to try a cluster with: it fails on request.",
    "imsimulator": "A simulator of Infrastructure Manager, which makes real small clusters.",
    "klightpeer": "A lightpeer that keeps a file alike on all members of its network.",
    "lightpeer": "A member of a light chain, joined to others by klight.",
    "relay": "Stands in public and leads visitors through tunnels to Services.",
    "tunnel": "Connects a Service to relays (Portal Expose).",
}
"""Every agent, with what it is for."""

Main = Callable[[Sequence[str]], None]


def main_of(name: str) -> Main:
    """The program of an agent, loaded when it is asked for."""
    found: Main = import_module(f"{__name__}.{name}").main
    return found
