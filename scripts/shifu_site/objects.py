"""The objects of a site, as a server has them.

One device is made on an embedded server, so that its objects are as a server stores them; the
others are copies of it, each with its own name, uid and revision.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import msgspec

from quintant.core.clock import SystemClock
from quintant.core.codec import from_plain
from quintant.core.object import Object, Request, replace
from quintant.operators.shifu.act.children import POLICY
from quintant.operators.shifu.builders.config import generated_config
from quintant.operators.shifu.builders.deployment import PlacedDevice, deployment
from quintant.operators.shifu.builders.names import base_name, config_name
from quintant.operators.shifu.builders.ports import service
from quintant.operators.shifu.observed.device import Observed, SeenNode
from quintant.operators.shifu.observed.device_view import ShifuDevice
from quintant.operators.shifu.observed.placement import PlacementRequest
from quintant.operators.shifu.observed.views import ShifuDeployment
from quintant.operators.shifu.plan.conclusion import conclude
from quintant.operators.shifu.plan.device import Choice, placement_digest
from quintant.operators.shifu.rules.hints import resolve_hints
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.runtime.apply import diff
from shifu_site.world import DEVICES, OPTIONS, SHIFUS, bare_cluster, settle

FIRST = "edgedevice-sensor-00000"
GROUP = "/apis/shifu.edgenesis.io/v1alpha1"
PATHS = {
    "device": f"{GROUP}/edgedevices",
    "deployment": f"/apis/apps/v1/namespaces/{SHIFUS}/deployments",
    "pod": f"/api/v1/namespaces/{SHIFUS}/pods",
    "service": f"/api/v1/namespaces/{SHIFUS}/services",
    "config": f"/api/v1/namespaces/{SHIFUS}/configmaps",
    "node": "/api/v1/nodes",
    "edge": f"{GROUP}/edgenodes",
}
MARK = b"shifu.edgenesis.io/compose-hash"


async def first_objects() -> dict[str, bytes]:
    """The objects of one device, as a server has them."""
    async with bare_cluster() as (_, client):
        await settle(client, 1, 1)
        base = base_name(Request(FIRST, DEVICES))
        names = {
            "device": f"{GROUP}/namespaces/{DEVICES}/edgedevices/{FIRST}",
            "deployment": f"{PATHS['deployment']}/{base}",
            "pod": f"{PATHS['pod']}/{base}-5d4f8-abcde",
            "service": f"{PATHS['service']}/{base}",
            "config": f"{PATHS['config']}/{base}-config",
            "node": "/api/v1/nodes/node-0000",
        }
        found = {kind: await client.raw("GET", path) for kind, path in names.items()}
        return {kind: raw.strip() for kind, raw in found.items()}


def copies(first: dict[str, bytes], devices: int, nodes: int) -> Iterator[tuple[str, bytes]]:
    """The lines of everything, kind by kind as it comes."""
    for number in range(nodes):
        raw = first["node"].replace(b"node-0000", b"node-%04d" % number)
        yield "node", raw.replace(_uid(first["node"]), _fresh("node", number))
    for number in range(devices):
        yield from _device(first, number, f"node-{number % nodes:04}")


def _device(first: dict[str, bytes], number: int, node: str) -> Iterator[tuple[str, bytes]]:
    old = _uid(first["device"])

    def copy(kind: str) -> bytes:
        raw = first[kind].replace(b"sensor-00000", b"sensor-%05d" % number)
        own = raw if kind == "device" else raw.replace(_uid(raw), _fresh(kind, number))
        return own.replace(old, _fresh("device", number)).replace(b"node-0000", node.encode())

    device = from_plain(ShifuDevice, msgspec.json.decode(copy("device")))
    made = {kind: copy(kind) for kind in ("deployment", "pod", "service", "config")}
    for kind, want in _wanted(device, made["deployment"]).items():
        made[kind] = _marked(made[kind], want)
    status = _status(device, made["deployment"], node)
    plain = msgspec.json.decode(copy("device"))
    plain["status"] = status
    yield "device", msgspec.json.encode(plain)
    yield from made.items()


def _wanted(device: ShifuDevice, raw: bytes) -> dict[str, str]:
    """The revision of each child of a device."""
    hints = resolve_hints(device)
    held = from_plain(ShifuDeployment, msgspec.json.decode(raw))
    placed = PlacedDevice(
        device, hints, held.node, "Memory", held.placed_at, placement_digest(hints), "",
        config_name(device.key),
    )  # fmt: skip
    wanted: dict[str, Object] = {
        "deployment": deployment(placed, OPTIONS.agent, SHIFUS),
        "service": service(device, SHIFUS, OPTIONS.service_type),
        "config": generated_config(device, SHIFUS),
    }
    return {kind: _revision(want, device) for kind, want in wanted.items()}


def _revision(want: Object, device: ShifuDevice) -> str:
    made = diff((want,), (), by=device, mark=POLICY.mark, across_namespaces=True).create[0]
    return POLICY.mark.of(made)


def _marked(raw: bytes, revision: str) -> bytes:
    plain = msgspec.json.decode(raw)
    plain["metadata"]["labels"][MARK.decode()] = revision
    return msgspec.json.encode(plain)


def _status(device: ShifuDevice, raw: bytes, node: str) -> object:
    """What the operator would say of a device at rest."""
    hints = resolve_hints(device)
    held = from_plain(ShifuDeployment, msgspec.json.decode(raw))
    observed = Observed(
        device, hints, PlacementRequest(0), SystemClock().now(), deployment=held,
        node=SeenNode(node, NodePhase.READY),
    )  # fmt: skip
    change = conclude(observed, Choice(node), OPTIONS).change
    assert change is not None
    return replace(change(None), phase="Running")


def _uid(raw: bytes) -> bytes:
    found: str = msgspec.json.decode(raw)["metadata"]["uid"]
    return found.encode()


def _fresh(kind: str, number: int) -> bytes:
    return str(UUID(int=hash((kind, number)) & (1 << 128) - 1, version=4)).encode()
