"""A client that calls the devices of the floor: through their Services, as any program would.

    nodes are ready --devices are connected--> all answer, and edgeMap agrees
                    --Berlin is killed------> all answer from elsewhere

What was done already is read from the cluster: devices are there, a node has a fault.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from quintant.api.core import ConfigMap, Node, Pod, Service
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport, TransportLimits
from quintant.client.rest import MERGE
from quintant.client.transport import JSON, ApiRequest
from quintant.core.address import BindAddress
from quintant.core.errors import TransportError
from quintant.core.object import Metadata
from quintant.operators.shifu.api.device import READY, EdgeDevice
from quintant.operators.shifu.api.names import DEVICE_LABEL, DEVICES, OURS
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.builders.ports import HTTP_PORT, SERVICE_PORT
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.operators.shifu.sample.floor import (
    CITIES,
    EDGEMAP,
    EDGEMAP_PORT,
    FAULT,
    HOME,
    SHIFUS,
    FloorDevice,
    connected_devices,
    floor_devices,
)
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.sample import SampleProgress
from quintant.wire.foreign import MalformedInput, decode_json

VICTIM = "berlin"
_SECONDS = 5.0
_MOST_BYTES = 256 * 1024
# Ports that could not be had are elsewhere; the embedded cluster keeps a table for people.
_TABLE, _TABLE_NAMESPACE = "service-ports", "kube-system"
_MOVED = re.compile(r"\S+:(\d+)/TCP is at (\S+):(\d+)")


class DeviceAnswer(NamedTuple):
    """What a caller learnt of a device."""

    url: str
    node: str
    """That its agent says it is on."""
    pid: int


class _AgentStatus(msgspec.Struct, frozen=True):
    """What an agent says of itself."""

    node: str = ""
    pid: int = 0


async def look(client: Client) -> SampleProgress:
    """Call every device; once all answer, kill a node and call again."""
    found = await client.list(EdgeDevice, DEVICES, live=True)
    if len(found) < len(floor_devices()):
        return await _connect(client)
    progress, answers = await call_devices(client)
    if not progress.done:
        return progress
    victim = await client.get(Metadata[Node], VICTIM, live=True)
    if FAULT not in victim.metadata.annotations:
        await _kill(client)
        return SampleProgress(False, f"{len(answers)} devices answer; {VICTIM} is killed")
    return _end(floor_devices(), {each.metadata.name: each for each in found}, answers)


async def call_devices(client: Client) -> tuple[SampleProgress, Mapping[str, DeviceAnswer]]:
    """Call every device; it is done when all answer, and edgeMap agrees with them."""
    floor = floor_devices()
    found = {each.metadata.name: each for each in await client.list(EdgeDevice, DEVICES, live=True)}
    up = [name for name in floor if _is_up(found.get(name))]
    if len(up) < len(floor):
        return SampleProgress(False, f"{len(up)} of {len(floor)} deviceShifus run"), {}
    answers = await _call_all(client, floor)
    if len(answers) < len(floor):
        silent = next(name for name in floor if name not in answers)
        message = f"{len(answers)} of {len(floor)} answer; {silent} does not"
        return SampleProgress(False, message), answers
    if wrong := await _disagreement(client, answers):
        return SampleProgress(False, wrong), answers
    protocols = len({each.protocol for each in floor.values()})
    message = f"{len(answers)} devices of {protocols} protocols answer, and edgeMap agrees"
    return SampleProgress(True, message), answers


def _end(
    floor: Mapping[str, FloorDevice],
    devices: Mapping[str, EdgeDevice],
    answers: Mapping[str, DeviceAnswer],
) -> SampleProgress:
    left = [name for name, answer in answers.items() if answer.node == VICTIM]
    if left:
        return SampleProgress(False, f"{VICTIM} died; {left[0]} is still there")
    moved = [name for name in floor if _came_from(devices[name]) == VICTIM]
    protocols = len({each.protocol for each in floor.values()})
    message = (
        f"{len(answers)} devices of {protocols} protocols answer; {VICTIM} died, "
        f"and its {len(moved)} answer from {_cities(answers[name].node for name in moved)}"
    )
    return SampleProgress(True, message, tuple(_lines(floor, answers)))


def _lines(floor: Mapping[str, FloorDevice], answers: Mapping[str, DeviceAnswer]) -> Iterable[str]:
    """How to call each device, and which process it is that answers."""
    for name, device in floor.items():
        answer = answers[name]
        body = f" -X PUT -H 'content-type: {JSON}' -d '{device.body}'" if device.body else ""
        who = f"{name}, {device.protocol}, on {answer.node}, agent pid {answer.pid}"
        yield f"curl{body} {answer.url}/{device.instruction}  # {who}"


async def _call_all(client: Client, floor: Mapping[str, FloorDevice]) -> dict[str, DeviceAnswer]:
    services = {
        each.metadata.labels.get(DEVICE_LABEL, ""): each
        for each in await client.list(Service, SHIFUS, labels=OURS, live=True)
    }
    table = await client.find(ConfigMap, _TABLE, _TABLE_NAMESPACE, live=True)
    moved = table.data if table is not None else {}
    known = {name: each for name, each in floor.items() if name in services}
    calls = (_call(services[name], each, moved) for name, each in known.items())
    called = await asyncio.gather(*calls)
    return {name: each for name, each in zip(known, called, strict=True) if each is not None}


async def _call(
    service: Service, device: FloorDevice, moved: Mapping[str, str]
) -> DeviceAnswer | None:
    """What came of one instruction, and of asking the agent who it is; None if nothing did."""
    address = _dialled(service, SERVICE_PORT, moved)
    agent = _dialled(service, HTTP_PORT, moved) if device.protocol == "TCP" else address
    try:
        await _answer_of(address, device.method, f"/{device.instruction}", device.body)
        status = await _answer_of(agent, "GET", "/_shifu/status")
        document = decode_json(status, _AgentStatus)
    except (TransportError, OSError, TimeoutError, MalformedInput):
        return None
    return DeviceAnswer(f"http://{address}", document.node, document.pid)


def _dialled(service: Service, port: int, moved: Mapping[str, str]) -> BindAddress:
    """Where a port of a Service is for who is in no pod."""
    key = f"{service.metadata.namespace}.{service.metadata.name}"
    for service_port, address, real in _MOVED.findall(moved.get(key, "")):
        if int(service_port) == port:
            return BindAddress(address, int(real))
    return BindAddress(service.spec.cluster_ip, port)


async def _answer_of(address: BindAddress, method: str, path: str, body: str = "") -> bytes:
    """The body of an answer that is one; TransportError or OSError if there is none."""
    limits = TransportLimits(connect=_SECONDS, answer=_SECONDS, size=_MOST_BYTES)
    transport = HttpTransport(Config(f"http://{address}"), limits=limits)
    headers = {"content-type": JSON} if body else {}
    try:
        call = ApiRequest(method, path, headers=headers, body=body.encode() or None)
        answer = await transport.request(call)
    finally:
        await transport.close()
    if answer.status != 200:
        raise ConnectionError(f"{method} {path} is {answer.status}")
    return answer.body


async def _disagreement(client: Client, answers: Mapping[str, DeviceAnswer]) -> str:
    """Where edgeMap, the pods and the agents differ, if they do."""
    try:
        service = await client.get(Service, EDGEMAP, HOME, live=True)
        text = await _answer_of(
            BindAddress(service.spec.cluster_ip, EDGEMAP_PORT), "GET", "/edgemap.txt"
        )
    except (TransportError, OSError) as error:
        return f"edgeMap does not answer: {str(error).partition(chr(10))[0]}"
    lines, pods = set(text.decode().splitlines()), await _pods(client)
    for name, answer in answers.items():
        if pods.get(name) != {answer.node}:
            return (
                f"{name} answers from {answer.node}, and has pods on {_cities(pods.get(name, ()))}"
            )
        if f"[{name}] --> [{answer.node}]" not in lines:
            return f"edgeMap does not say that {name} is on {answer.node}"
    return ""


async def _pods(client: Client) -> dict[str, set[str]]:
    """The nodes of every device's pods."""
    found: dict[str, set[str]] = {}
    for pod in await client.list(Pod, SHIFUS, labels=OURS, live=True):
        device = pod.metadata.labels.get(DEVICE_LABEL, "")
        found.setdefault(device, set()).add(pod.spec.node_name)
    return found


async def _connect(client: Client) -> SampleProgress:
    """Connect the devices as soon as every node of the floor takes deviceShifus."""
    found = {each.metadata.name: each.status for each in await client.list(EdgeNode, live=True)}
    for city in CITIES:
        status = found.get(city)
        if status is None or status.phase != NodePhase.READY.value:
            return SampleProgress(False, f"node {city} is not ready yet")
    await Applier(client.rest, client.manager).apply(connected_devices())
    return SampleProgress(False, "devices are connected")


async def _kill(client: Client) -> None:
    change = {"metadata": {"annotations": {FAULT: "dead"}}}
    await client.raw(
        "PATCH", f"/api/v1/nodes/{VICTIM}", body=msgspec.json.encode(change),
        headers={"Content-Type": MERGE},
    )  # fmt: skip


def _is_up(device: EdgeDevice | None) -> bool:
    status = device.status if device is not None else None
    return status is not None and any(
        each.type == READY and each.status == "True" for each in status.conditions
    )


def _came_from(device: EdgeDevice) -> str:
    placement = device.status.placement if device.status is not None else None
    return placement.previous_node if placement is not None else ""


def _cities(nodes: Iterable[str]) -> str:
    listed = sorted(set(nodes), key=lambda each: (each not in CITIES, each))
    return " and ".join(listed) or "no node"
