"""Devices in three cities, and a node in each: every deviceShifu runs where its device is.

These nodes are simulated, so is what runs on them: they show where things go, and why. One device
of each protocol is pinned to this machine, where everything is a process: a simulated device, and
the agent that speaks to it and tells its phase.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

from quintant.operators.shifu.api.device import READY, RUNNING, EdgeDevice
from quintant.operators.shifu.api.names import DEVICES, GROUP, LOCATION, VERSION
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.sample import Sample, SampleProgress

SHIFUS = "deviceshifu"
CITIES = {
    "paris": "48.8566,2.3522",
    "berlin": "52.52,13.405",
    "singapore": "1.3521,103.8198",
}
HOMES = {
    "camera-paris": ("paris", "48.86,2.35"),
    "camera-berlin": ("berlin", "52.51,13.39"),
    "crane-singapore": ("singapore", "1.26,103.84"),
}
"""The devices, the city each belongs to, and where it is."""
HERE = "local"
"""The node that is this machine."""


class RealDevice(NamedTuple):
    """A simulated device that runs as a process here, as does its deviceShifu."""

    protocol: str
    image: str
    port: int
    instruction: str = ""
    properties: str = ""
    library: str = ""
    """What its protocol needs; without it the device is left out."""


_MOCK = "edgehub/mockdevice"
REAL = {
    "thermometer": RealDevice("HTTP", f"{_MOCK}-thermometer", 11111, "read_value"),
    "feeder": RealDevice("Socket", f"{_MOCK}-socket", 11122, "cmd"),
    "gate": RealDevice("TCP", f"{_MOCK}-hello-world", 11111),
    "sensor": RealDevice(
        "MQTT", "eclipse-mosquitto", 1883, "value", "MQTTTopic: sensor/value", "aiomqtt"
    ),
    "boiler": RealDevice(
        "Modbus", f"{_MOCK}-modbus", 5020, "temperature",
        "ModbusAddress: 0, ModbusScale: 0.1", "pymodbus",
    ),
    "press": RealDevice(
        "OPCUA", f"{_MOCK}-opcua", 4840, "value", 'OPCUANodeID: "ns=2;i=2"', "asyncua"
    ),
}  # fmt: skip
"""One device of each protocol."""


def real_devices() -> dict[str, RealDevice]:
    """Those whose libraries are here."""
    return {
        name: each for name, each in REAL.items() if not each.library or find_spec(each.library)
    }


_SIZE = {"cpu": "4", "memory": "4Gi", "pods": "110"}
_SIMULATED = {"simulated.quintant.dev/node": "true"}

Plain = dict[str, Any]


def manifests() -> tuple[Plain, ...]:
    """Everything of the sample."""
    return (
        *(_node(name, place) for name, place in CITIES.items()),
        *(_device(name, place) for name, (_, place) in HOMES.items()),
        *(part for name, each in real_devices().items() for part in _real(name, each)),
    )


def _node(name: str, place: str) -> Plain:
    meta = {"name": name, "labels": _SIMULATED, "annotations": {LOCATION: place}}
    status = {"capacity": _SIZE, "allocatable": _SIZE}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status}


def _device(name: str, place: str) -> Plain:
    meta = {"name": name, "namespace": DEVICES, "annotations": {LOCATION: place}}
    spec = {"sku": "sample", "connection": "Ethernet", "protocol": "HTTP"}
    spec["address"] = f"{name}.{DEVICES}.svc.cluster.local:80"
    return {
        "apiVersion": f"{GROUP}/{VERSION}", "kind": "EdgeDevice", "metadata": meta, "spec": spec,
    }  # fmt: skip


def _real(name: str, device: RealDevice) -> tuple[Plain, ...]:
    """A simulated device, and the EdgeDevice and ConfigMap that its deviceShifu is made from."""
    labels = {"app": name}
    meta = {"name": name, "namespace": DEVICES}
    pod = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": name, "image": f"{device.image}:v0.101.0"}]},
    }
    address = f"{name}.{DEVICES}.svc.cluster.local:{device.port}"
    if device.protocol == "OPCUA":
        address = f"opc.tcp://{address}/freeopcua/server/"
    spec = {
        "protocol": device.protocol, "address": address, "sku": "simulated",
        "connection": "Ethernet", "placement": {"nodeName": HERE},
    }  # fmt: skip
    ports = [{"port": device.port, "targetPort": device.port}]
    config = {"name": f"{name}-configmap", "namespace": SHIFUS}
    return (
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
         "spec": {"selector": {"matchLabels": labels}, "template": pod}},
        {"apiVersion": "v1", "kind": "Service", "metadata": meta,
         "spec": {"selector": labels, "ports": ports}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": config, "data": _config(device)},
        {"apiVersion": f"{GROUP}/{VERSION}", "kind": "EdgeDevice", "metadata": meta, "spec": spec},
    )  # fmt: skip


def _config(device: RealDevice) -> dict[str, str]:
    name = device.instruction
    listed = f"{name}: {{protocolPropertyList: {{{device.properties}}}}}" if name else ""
    found = {"instructions": f"instructions: {{{listed}}}"}
    if device.protocol in ("HTTP", "OPCUA", "Modbus"):
        reading = f"{{properties: {{instruction: {name}, initialDelayMs: 0}}}}"
        found["telemetries"] = f"telemetries: {{health: {reading}}}"
    return found


async def _look(client: Client) -> SampleProgress:
    found = {each.metadata.name: each for each in await client.list(EdgeDevice, DEVICES, live=True)}
    there = [name for name, (city, _) in HOMES.items() if _is_at(found.get(name), city)]
    real = real_devices()
    spoken = [name for name in real if _answers(found.get(name))]
    done = len(there) == len(HOMES) and len(spoken) == len(real)
    told = f"{len(there)} of {len(HOMES)} deviceShifus run where they belong"
    return SampleProgress(done, f"{told}, {len(spoken)} of {len(real)} devices here answer")


def _answers(device: EdgeDevice | None) -> bool:
    return _is_at(device, HERE) and _phase(device) == RUNNING


def _phase(device: EdgeDevice | None) -> str:
    return device.status.phase if device is not None and device.status is not None else ""


def _is_at(device: EdgeDevice | None, city: str) -> bool:
    if device is None or device.status is None or device.status.placement is None:
        return False
    up = any(each.type == READY and each.status == "True" for each in device.status.conditions)
    return up and device.status.placement.node_name == city


SAMPLE = Sample(
    DEVICES,
    manifests(),
    _look,
    (
        f"kubectl -n {DEVICES} get edgedevices",
        "kubectl get edgenodes",
        f"curl $(kubectl -n {SHIFUS} get svc deviceshifu-thermometer "
        "-o jsonpath={.spec.clusterIP})/read_value",
        "kubectl annotate node berlin simulated.quintant.dev/fault=dead",
        "kubectl -n shifu-system port-forward deploy/shifu 8090 & curl localhost:8090/edgemap.txt",
    ),
    also=(SHIFUS,),
)
