"""Devices in three cities, and a node in each: every deviceShifu runs where its device is.

The nodes are simulated, so is what runs on them: the sample shows where things go, and why.
"""

from __future__ import annotations

from typing import Any

from quintant.operators.shifu.api.device import READY, EdgeDevice
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
_SIZE = {"cpu": "4", "memory": "4Gi", "pods": "110"}
_SIMULATED = {"simulated.quintant.dev/node": "true"}

Plain = dict[str, Any]


def manifests() -> tuple[Plain, ...]:
    """Everything of the sample."""
    return (
        *(_node(name, place) for name, place in CITIES.items()),
        *(_device(name, place) for name, (_, place) in HOMES.items()),
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


async def _look(client: Client) -> SampleProgress:
    found = {each.metadata.name: each for each in await client.list(EdgeDevice, DEVICES, live=True)}
    there = [name for name, (city, _) in HOMES.items() if _is_at(found.get(name), city)]
    done = len(there) == len(HOMES)
    return SampleProgress(done, f"{len(there)} of {len(HOMES)} deviceShifus run where they belong")


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
        "kubectl annotate node berlin simulated.quintant.dev/fault=dead",
        "kubectl -n shifu-system port-forward deploy/shifu 8090 & curl localhost:8090/edgemap.txt",
    ),
    also=(SHIFUS,),
)
