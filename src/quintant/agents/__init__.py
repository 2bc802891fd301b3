"""Programs that run in pods, each a module or package with a function `main(arguments)`.

An agent stands alone: it loads neither the runtime nor the cluster, so that its process is small
and starts at once. `quintant agent NAME` runs one, in an image and on the embedded node alike.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

DEVICES: dict[str, str] = {
    "agv": "a guided vehicle",
    "camera": "a camera, with pictures and a stream of them",
    "hello-world": "it says hello",
    "modbus": "registers and coils, over Modbus/TCP",
    "opcua": "an OPC UA server",
    "plate-reader": "a plate reader",
    "plc": "a PLC",
    "robot-arm": "a robot arm",
    "socket": "it echoes, over a socket",
    "thermometer": "a thermometer",
}
"""Simulated devices, each an agent `mockdevice-NAME`."""

AGENTS: dict[str, str] = {
    "broker": "A simulator of an MQTT broker (3.1.1), for demos and tests.",
    "chainsim": "A simulator of a CometBFT node: blocks, RPC, upgrades, and faults on request.",
    "cosmosnode": "Runs beside a node of a Cosmos chain: configuration, health, versions.",
    "deviceshifu": "Speaks a device's protocol on one side, and HTTP on the other (shifu).",
    "echo": "A web program to try a cluster with: it fails on request.",
    "imsimulator": "A simulator of Infrastructure Manager, which makes real small clusters.",
    **{f"mockdevice-{name}": f"A simulated device: {what}." for name, what in DEVICES.items()},
    "klightpeer": "A lightpeer that keeps a file alike on all members of its network.",
    "lightpeer": "A member of a light chain, joined to others by klight.",
    "relay": "Stands in public and leads visitors through tunnels to Services.",
    "telemetryservice": "Takes readings of devices, and publishes them by MQTT (shifu).",
    "tunnel": "Connects a Service to relays (Portal Expose).",
}
"""Every agent, with what it is for."""

_MOCK = "mockdevice-"
_MODULES = {
    "hello-world": "hello_world", "plate-reader": "plate_reader", "robot-arm": "robot_arm",
    "socket": "socket_echo",
}  # fmt: skip
"""Of simulated devices whose names are no names of modules."""

Main = Callable[[Sequence[str]], None]


def main_of(name: str) -> Main:
    """The program of an agent, loaded when it is asked for."""
    device = name.removeprefix(_MOCK)
    module = f"devices.{_MODULES.get(device, device)}" if device != name else name
    found: Main = import_module(f"{__name__}.{module}").main
    return found


def run_agent(name: str, arguments: Sequence[str]) -> None:
    """Run an agent; the process ends with why if a path in its arguments is not the pod's."""
    from quintant.agents.embedded_node import PathOutsidePod
    from quintant.agents.first_process import end_on_sigterm

    end_on_sigterm(os.getpid())
    try:
        main_of(name)(arguments)
    except PathOutsidePod as error:
        print(error, file=sys.stderr, flush=True)
        sys.exit(1)
