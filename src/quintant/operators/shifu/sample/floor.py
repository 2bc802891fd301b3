"""What is on the factory floor: cities with a node each, simulators, and the devices they are.

The three nodes that run processes are tainted: nothing but deviceShifus comes to them, so nothing
else is lost with them. The simulated ones are elsewhere in the world, and not of the floor.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

from quintant.operators.shifu.api.names import DEVICES, GROUP, LOCATION, VERSION
from quintant.runtime.manager.sample import restricted

SHIFUS, HOME = "deviceshifu", "shifu-system"
FAULT = "simulated.quintant.dev/fault"
EDGEMAP, EDGEMAP_PORT = "edgemap", 8090
FLOOR_LABELS = {"floor": "assembly"}
_TAINT = {"key": "floor", "value": "assembly", "effect": "NoSchedule"}
_PROCESSES = {"node.quintant.dev/runs": "processes"}
_SIMULATED = {"simulated.quintant.dev/node": "true"}
_SIZE = {"cpu": "4", "memory": "4Gi", "pods": "30"}

CITIES = {
    "paris": (48.8566, 2.3522),
    "berlin": (52.52, 13.405),
    "singapore": (1.3521, 103.8198),
}
"""The nodes of the floor: what is on them are processes."""
ELSEWHERE = {
    "accra": (5.6, -0.19), "athens": (37.98, 23.73), "bogota": (4.71, -74.07),
    "cairo": (30.04, 31.24), "chicago": (41.88, -87.63), "delhi": (28.61, 77.21),
    "dublin": (53.35, -6.26), "hanoi": (21.03, 105.85), "helsinki": (60.17, 24.94),
    "istanbul": (41.01, 28.98), "lagos": (6.52, 3.38), "lima": (-12.05, -77.04),
    "lisbon": (38.72, -9.14), "madrid": (40.42, -3.7), "manila": (14.6, 120.98),
    "milan": (45.46, 9.19), "nairobi": (-1.29, 36.82), "osaka": (34.69, 135.5),
    "oslo": (59.91, 10.75), "perth": (-31.95, 115.86), "prague": (50.08, 14.44),
    "seoul": (37.57, 126.98), "sydney": (-33.87, 151.21), "toronto": (43.65, -79.38),
}  # fmt: skip
"""Simulated nodes: two dozen."""

Plain = dict[str, Any]


class Simulator(NamedTuple):
    """A program that behaves as a device, or as what devices are reached through."""

    image: str
    port: int
    library: str = ""
    """What it, or the agent of its protocol, needs; without it its devices are left out."""


class FloorDevice(NamedTuple):
    """A device of the floor, and one instruction that it answers."""

    protocol: str
    city: str
    simulator: str
    instruction: str
    """Or, where a port is forwarded, what is asked of the device itself."""
    properties: str = ""
    body: str = ""
    """Sent with the instruction; then it is a PUT."""

    @property
    def method(self) -> str:
        """How it is called."""
        return "PUT" if self.body else "GET"


_MOCK, TAG = "edgehub/mockdevice", "v0.101.0"
SIMULATORS = {
    "thermometer": Simulator(f"{_MOCK}-thermometer", 11111),
    "camera": Simulator(f"{_MOCK}-camera", 11111),
    "robot-arm": Simulator(f"{_MOCK}-robot-arm", 11111),
    "agv": Simulator(f"{_MOCK}-agv", 11111),
    "feeder": Simulator(f"{_MOCK}-socket", 11122),
    "broker": Simulator("eclipse-mosquitto", 1883),
    "boiler": Simulator(f"{_MOCK}-modbus", 5020, "pymodbus"),
    "press": Simulator(f"{_MOCK}-opcua", 4840, "asyncua"),
}
_COMMAND = '{"command": "step"}'
FLOOR = {
    "thermometer": FloorDevice("HTTP", "paris", "thermometer", "read_value"),
    "camera": FloorDevice("HTTP", "berlin", "camera", "info"),
    "robot-arm": FloorDevice("HTTP", "singapore", "robot-arm", "get_coordinate"),
    "agv": FloorDevice("HTTP", "berlin", "agv", "get_position"),
    "humidity": FloorDevice("MQTT", "paris", "broker", "value", "MQTTTopic: humidity", "41 %"),
    "vibration": FloorDevice("MQTT", "berlin", "broker", "value", "MQTTTopic: vibration", "0.3"),
    "feeder": FloorDevice("Socket", "berlin", "feeder", "cmd", body=_COMMAND),
    "labeller": FloorDevice("Socket", "singapore", "feeder", "cmd", body=_COMMAND),
    "picture": FloorDevice("TCP", "paris", "camera", "capture"),
    "boiler": FloorDevice(
        "Modbus", "paris", "boiler", "temperature", "ModbusAddress: 0, ModbusScale: 0.1"
    ),
    "chiller": FloorDevice("Modbus", "singapore", "boiler", "level", "ModbusAddress: 0"),
    "press": FloorDevice("OPCUA", "berlin", "press", "value", 'OPCUANodeID: "ns=2;i=2"'),
}
"""Twelve devices of six protocols; some are parts of one machine, and share its program."""


def floor_devices() -> dict[str, FloorDevice]:
    """Those whose libraries are installed."""
    return {name: each for name, each in FLOOR.items() if _is_here(SIMULATORS[each.simulator])}


def _is_here(simulator: Simulator) -> bool:
    return not simulator.library or find_spec(simulator.library) is not None


def nodes_and_programs() -> tuple[Plain, ...]:
    """What is there before the first device is connected."""
    return (
        *(part for city in CITIES for part in _floor_node(city)),
        *(_simulated_node(city, location) for city, location in ELSEWHERE.items()),
        *programs(),
    )


def programs() -> tuple[Plain, ...]:
    """The simulators of devices, and the way to edgeMap."""
    used = dict.fromkeys(each.simulator for each in floor_devices().values())
    return *_edgemap(), *(part for name in used for part in _simulator(name))


def connected_devices() -> tuple[Plain, ...]:
    """The devices: a node that is not ready when its device comes would be passed over."""
    return tuple(part for name, each in floor_devices().items() for part in _device(name, each))


def _floor_node(city: str) -> tuple[Plain, Plain]:
    """A node that runs processes, and what its EdgeNode says of it."""
    latitude, longitude = CITIES[city]
    location = {"latitude": latitude, "longitude": longitude, "site": city}
    tolerations = [{**_TAINT, "operator": "Equal"}]
    node = _node(city, {**_PROCESSES, **FLOOR_LABELS}, {})
    node["spec"] = {"taints": [_TAINT]}
    return node, _ours(
        "EdgeNode", {"name": city}, {"location": location, "tolerations": tolerations}
    )


def _simulated_node(city: str, location: tuple[float, float]) -> Plain:
    return _node(city, _SIMULATED, {LOCATION: f"{location[0]},{location[1]}"})


def _node(name: str, labels: Plain, notes: Plain) -> Plain:
    meta = {"name": name, "labels": labels, "annotations": notes}
    status = {"capacity": _SIZE, "allocatable": _SIZE}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status}


def _edgemap() -> tuple[Plain, Plain]:
    """A way to edgeMap, which is for this machine only unless its address is set.

    The operator's own policy lets no one in to it: here one beside it does.
    """
    ports = [{"port": EDGEMAP_PORT, "targetPort": EDGEMAP_PORT}]
    labels = {"app.kubernetes.io/name": "shifu"}
    incoming = [{"ports": [{"port": EDGEMAP_PORT, "protocol": "TCP"}]}]
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": EDGEMAP, "namespace": HOME},
        "spec": {"podSelector": {"matchLabels": labels}, "ingress": incoming},
    }
    return _service(EDGEMAP, HOME, labels, ports), policy


def _simulator(name: str) -> tuple[Plain, Plain]:
    """A program that stands for devices, and its Service."""
    simulator, labels = SIMULATORS[name], {"app": name}
    container = {"name": name, "image": f"{simulator.image}:{TAG}"}
    pod = {"metadata": {"labels": labels}, "spec": restricted({"containers": [container]})}
    return (
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _meta(name),
         "spec": {"selector": {"matchLabels": labels}, "template": pod}},
        _service(name, DEVICES, labels, [{"port": simulator.port, "targetPort": simulator.port}]),
    )  # fmt: skip


def _device(name: str, device: FloorDevice) -> tuple[Plain, Plain]:
    """An EdgeDevice, and the ConfigMap of its instructions."""
    latitude, longitude = CITIES[device.city]
    placement = {"location": f"{latitude},{longitude}", "nodeSelector": FLOOR_LABELS}
    spec = {
        "protocol": device.protocol, "address": _address(device), "sku": "simulated",
        "connection": "Ethernet", "placement": placement,
    }  # fmt: skip
    meta = {"name": f"{name}-configmap", "namespace": SHIFUS}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": _config(device)}
    return config, _ours("EdgeDevice", _meta(name), spec)


def _address(device: FloorDevice) -> str:
    port = SIMULATORS[device.simulator].port
    address = f"{device.simulator}.{DEVICES}.svc.cluster.local:{port}"
    return f"opc.tcp://{address}/freeopcua/server/" if device.protocol == "OPCUA" else address


def _config(device: FloorDevice) -> dict[str, str]:
    name = device.instruction
    listed = f"{name}: {{protocolPropertyList: {{{device.properties}}}}}"
    if device.protocol == "TCP":
        listed = ""
    found = {"instructions": f"instructions: {{{listed}}}"}
    if device.protocol in ("HTTP", "OPCUA", "Modbus"):
        reading = f"{{properties: {{instruction: {name}, initialDelayMs: 0}}}}"
        found["telemetries"] = f"telemetries: {{health: {reading}}}"
    return found


def _service(name: str, namespace: str, labels: Plain, ports: list[Plain]) -> Plain:
    meta, spec = {"name": name, "namespace": namespace}, {"selector": labels, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def _ours(kind: str, meta: Plain, spec: Plain) -> Plain:
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": meta, "spec": spec}


def _meta(name: str) -> Plain:
    return {"name": name, "namespace": DEVICES}
