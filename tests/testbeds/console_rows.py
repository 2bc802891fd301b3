"""Rows of a console, as its contract has them: a small cluster, and a large one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import sin
from typing import Any

from testbeds.console_server import ConsoleServer

Row = dict[str, Any]
GIB = 1024**3
PROTOCOLS = ("MQTT", "HTTP", "OPCUA", "Modbus")
SYSTEMS = {
    "klight": ("everything is as it should be", 2, 0, 0, 0),
    "portal": ("everything is as it should be", 3, 0, 0, 0),
    "infra": ("1 of 2 is on the way", 1, 1, 0, 0),
    "cosmos": ("1 of 7 needs a person", 5, 1, 1, 0),
    "shifu": ("1 of 20 needs a person", 17, 1, 1, 1),
}


SENTENCES = {
    "well": "its deviceShifu reaches it",
    "working": "its deviceShifu is being started",
    "broken": "its device has not answered for 40 s; its node is well",
}
TITLES = {
    "klight": "networks of lightpeers",
    "portal": "Services under public URLs",
    "infra": "clusters on clouds",
    "cosmos": "nodes of Cosmos chains",
    "shifu": "devices at the edge",
}


def ago(seconds: float) -> str:
    """A time so long ago."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def small_cluster(server: ConsoleServer) -> None:
    """A cluster with every system, and a few things broken."""
    server.put(
        "overview",
        {**_systems(), **_operators(), **_plots()},
        cluster="demo",
        server_version="v1.34.2",
        console_version="0.2.0",
        started=ago(900),
    )
    server.put("events", dict(event(at) for at in range(12)))
    server.put("nodes", {f"edge-{at}": node(at, broken=at == 4) for at in range(6)})
    server.put("panel/cosmos", _full_nodes(), **panel_meta("cosmos", "CosmosFullNode", COLUMNS))
    server.put("changes/-", {str(at): _change(at) for at in range(4)})
    server.put("changes/factory", {str(at): _change(at) for at in range(2)})
    edgemap(server, nodes=6, devices=20)
    for at in range(3):
        device_object(server, f"light-{at}")


def _systems() -> dict[str, Row]:
    rows = {}
    for name, (sentence, well, working, broken, unknown) in SYSTEMS.items():
        counts = {"well": well, "working": working, "broken": broken, "unknown": unknown}
        rows[f"system/{name}"] = {
            "type": "system", "name": name, "title": TITLES[name], "installed": True,
            "install": f"quintant install {name}", "counts": counts, "sentence": sentence,
            "broken": [_broken(name)] if broken else [],
        }  # fmt: skip
    return rows


def _broken(name: str) -> Row:
    if name == "cosmos":
        return {
            "title": "CosmosFullNode chains/kvstore-2",
            "sentence": "its height has stood at 4,211 for 3 min: no peer sends it blocks",
            "link": link("cosmos.strange.love", "v1", "cosmosfullnodes", "chains", "kvstore-2"),
        }
    return {
        "title": "EdgeDevice factory/light-9",
        "sentence": "its device has not answered for 40 s; its node is well",
        "link": device_link("light-9"),
    }


def _operators() -> dict[str, Row]:
    rows = {}
    for at, name in enumerate(SYSTEMS):
        rows[f"operator/{name}"] = {
            "type": "operator", "name": name, "namespace": f"{name}-system", "version": "0.2.0",
            "leader": f"{name}-6f9c-{at}xk2", "ready": 1, "replicas": 1, "restarts": at // 4,
            "reconcile_rate": 1.25 * at + 0.4, "error_rate": 0.0 if at != 3 else 0.2, "figures": "",
        }  # fmt: skip
    return rows


def _plots() -> dict[str, Row]:
    began = datetime.now(UTC).timestamp() - 300
    series: dict[str, tuple[str, str, list[float]]] = {
        "cosmos-height": ("Height of the highest chain", "blocks", [4000 + at for at in range(60)]),
        "shifu-moves": ("Moves of devices", "", [12 + at // 20 + at // 27 for at in range(60)]),
        "reconciles": (
            "Reconciles",
            "per second",
            [6 + 3 * sin(at / 4) + sin(at) for at in range(60)],
        ),
        "portal-relays": ("Connected relays", "", [6 - (20 < at < 31) for at in range(60)]),
    }
    return {
        f"plot/{name}": {
            "type": "plot",
            "title": title,
            "unit": unit,
            "points": [[began + 5 * at, value] for at, value in enumerate(values)],
        }
        for name, (title, unit, values) in series.items()
    }


def event(at: int, message: str = "") -> tuple[str, Row]:
    """One event, the higher the older."""
    reasons = ("Scheduled", "Attached", "DeviceUnreachable", "Moved", "SnapshotReady", "Joined")
    name = f"light-{at}"
    row = {
        "time": ago(7 + 21 * at),
        "type": "Warning" if at % 6 == 2 else "Normal",
        "reason": reasons[at % 6],
        "message": message or f"{name} is on edge-{at % 5}, 1.5 km from its device",
        "count": 1 + at % 3,
        "object": {
            "kind": "EdgeDevice",
            "namespace": "factory",
            "name": name,
            "link": device_link(name),
        },
    }
    return f"event-{at}", row


def node(at: int, *, broken: bool = False) -> Row:
    """A node, simulated from the fourth on."""
    return {
        "name": f"edge-{at}",
        "state": "broken" if broken else "well",
        "sentence": "it has not reported for 50 s" if broken else "it takes pods",
        "simulated": at > 2,
        "memory": {"capacity": 4 * GIB, "requested": (0.4 + at % 7 * 0.55) * GIB},
        "cpu": {"capacity": 4.0, "requested": 0.5 + at % 5 * 0.6},
        "pods": 3 + at % 8,
        "taints": ["node.kubernetes.io/unreachable:NoExecute"] if broken else [],
        "link": f"/objects/core/v1/nodes/-/edge-{at}",
    }


def link(group: str, version: str, plural: str, namespace: str, name: str) -> str:
    """The page of an object."""
    return f"/objects/{group}/{version}/{plural}/{namespace}/{name}"


def device_link(name: str) -> str:
    """The page of a device."""
    return link("shifu.edgenesis.io", "v1alpha1", "edgedevices", "factory", name)


def device(at: int, on: str, **other: Any) -> Row:
    """A device on a node."""
    name = f"light-{at}"
    state = ("well", "well", "well", "working", "well", "well", "well", "well", "well", "broken")
    links = ("attached", "attached", "adopted", "pending", "attached")
    row = {
        "type": "device", "uid": f"uid-{at}", "namespace": "factory", "name": name, "node": on,
        "phase": {"well": "Running", "working": "Pending", "broken": "Failed"}[state[at % 10]],
        "state": state[at % 10], "sentence": SENTENCES[state[at % 10]],
        "protocol": PROTOCOLS[at % 4],
        "sku": f"lamp-{at % 3}", "labels": {"hall": f"h{at % 4}", "line": str(at % 9)},
        "link_state": links[at % 5], "reason": f"{on} is nearest: 1.5 km, 512 MiB free",
        "kind": "nearest", "distance": 1480, "previous_node": "edge-4" if at % 5 == 0 else "",
        "instructions": ["on", "off", "status"],
        "curl": f"curl http://deviceshifu-{name}.factory.svc/status",
        "x": (at * 37 % 100) / 1.0, "y": (at * 61 % 100) / 1.0, "link": device_link(name),
    }  # fmt: skip
    return {**row, **other}


def map_node(at: int, devices: int, **other: Any) -> Row:
    """A node of the edgeMap."""
    own = {"type": "node", "devices": devices, "x": 20.0 * (at % 5), "y": 25.0 * (at // 5 % 5)}
    return {**node(at), **own, "distance": 1, **other}


def edgemap(server: ConsoleServer, nodes: int, devices: int) -> None:
    """So many devices on so many nodes."""
    on = [at % (nodes - 1) if nodes > 1 else 0 for at in range(devices)]
    rows: dict[str, Row] = {
        f"node/edge-{at}": map_node(
            at,
            on.count(at),
            state="broken" if at == nodes - 1 else "well",
            sentence="lost: it has not reported for 50 s" if at == nodes - 1 else "it takes pods",
        )
        for at in range(nodes)
    }
    for at in range(devices):
        rows[f"device/factory/light-{at}"] = device(at, f"edge-{on[at]}")
    if devices > 13:
        rows["device/factory/light-13"] = device(
            13, "", phase="Pending", state="working", reason="no node has 2 GiB free"
        )
    server.put("edgemap", rows, text="edge-0: light-0\n", timeline=[move(at) for at in range(4)])


def move(at: int) -> Row:
    """A move that was."""
    causes = ("edge-4 has not reported for 50 s", "edge-1 is nearer by 3 hops")
    name = f"light-{5 * at}"
    return {
        "time": ago(30 + 95 * at),
        "device": f"factory/{name}",
        "from": "edge-4",
        "to": f"edge-{at % 4}",
        "cause": causes[at % 2],
        "link": device_link(name),
    }


def device_topic(name: str) -> str:
    """The topic of a device's page."""
    return f"object{device_link(name).removeprefix('/objects')}"


def device_object(server: ConsoleServer, name: str, **other: Any) -> None:
    """The page of a device."""
    rows: dict[str, Row] = {
        "object": {
            "kind": "EdgeDevice", "namespace": "factory", "name": name, "uid": f"uid-{name}",
            "created": ago(4000), "deleted": None, "state": "broken",
            "sentence": "its device has not answered for 40 s; its node is well",
            "yaml": "apiVersion: shifu.edgenesis.io/v1alpha1\nkind: EdgeDevice\n"
            f"metadata:\n  name: {name}\n  namespace: factory\nspec:\n  sku: lamp-1\n",
            "labels": {"hall": "h1"}, "annotations": {}, "simulated": False, **other,
        },
        "condition/Ready": condition("Ready", "False", "DeviceUnreachable"),
        "condition/Placed": condition("Placed", "True", "Nearest"),
        "child/a": _child("Deployment", "well"), "child/b": _child("Pod", "working"),
        "change/1": own_change(1), "change/2": own_change(2),
        **{f"event/{key}": row for key, row in (event(2), event(8))},
    }  # fmt: skip
    server.put(device_topic(name), rows)


def condition(name: str, status: str, reason: str, message: str = "") -> Row:
    """A condition with what it means."""
    bad = status != "True"
    return {
        "type": name,
        "status": status,
        "reason": reason,
        "message": message or ("3 requests in a row had no answer" if bad else "edge-1, 1.5 km"),
        "since": ago(41),
        "meaning": "The deviceShifu runs, and its device does not answer it." if bad else "",
        "advice": "Look at the device's power and network; see its last answer below."
        if bad
        else "",
        "docs": "https://example.test/shifu#ready" if bad else "",
    }


def _child(kind: str, state: str) -> Row:
    return {
        "kind": kind, "namespace": "factory", "name": "deviceshifu-light-1", "state": state,
        "sentence": "1 of 1 ready" if state == "well" else "starting", "simulated": kind == "Pod",
        "link": link("apps", "v1", "deployments", "factory", "deviceshifu-light-1"),
    }  # fmt: skip


def _change(at: int) -> Row:
    fields = ("spec.replicas", "status.phase", "spec.sku", "metadata.labels.hall")
    return {
        "time": ago(15 + 40 * at), "kind": "EdgeDevice", "namespace": "factory",
        "name": f"light-{at}", "field": fields[at % 4], "old": ("2", "Pending", "lamp-1", "h1")[at],
        "new": ("3", "Running", "lamp-2", "h2")[at],
        "manager": ("kubectl-edit", "shifu", "kubectl-edit", "helm")[at],
        "link": device_link(f"light-{at}"),
    }  # fmt: skip


def own_change(at: int) -> Row:
    """A change in the history of an object, which need not name it."""
    return {name: _change(at)[name] for name in ("time", "field", "old", "new", "manager")}


COLUMNS = [("Height", "end"), ("Replicas", "end"), ("Version", "start")]


def panel_meta(name: str, kind: str, columns: list[tuple[str, str]]) -> Row:
    """What a panel says of itself."""
    titles = [{"title": title, "align": align} for title, align in columns]
    kinds = [{"kind": kind, "plural": f"{kind.lower()}s", "columns": titles}]
    return {
        "title": name,
        "kinds": kinds,
        "installed": True,
        "install": f"quintant install {name}",
        "docs": "",
    }


def full_node(at: int, **other: Any) -> Row:
    """A row of the panel of cosmos."""
    state = ("well", "well", "broken", "working", "well")[at % 5]
    name = f"kvstore-{at}"
    row = {
        "uid": f"full-{at}", "kind": "CosmosFullNode", "namespace": "chains", "name": name,
        "state": state, "sentence": "no peer sends it blocks" if state == "broken" else "in sync",
        "cells": [f"{4211 + 17 * at:,}", f"{at % 3}/3", "v1.2.0"], "url": None, "simulated": False,
        "link": link("cosmos.strange.love", "v1", "cosmosfullnodes", "chains", name),
        "created": ago(3000 + at),
    }  # fmt: skip
    return {**row, **other}


def _full_nodes(count: int = 7) -> dict[str, Row]:
    return {f"full-{at}": full_node(at) for at in range(count)}


def many_rows(server: ConsoleServer, count: int) -> None:
    """A panel of so many rows."""
    server.put(
        "panel/cosmos", _full_nodes(count), **panel_meta("cosmos", "CosmosFullNode", COLUMNS)
    )
