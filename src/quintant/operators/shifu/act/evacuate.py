"""Sees lost nodes, and decides for all of their deviceShifus at once where they go.

Deciding together is what gives the important ones a place first. Each decision is bound before the
next is made, and carried out by the reconcile of its device, before all other work. Runs where the
lease is held.
"""

from __future__ import annotations

import asyncio

from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.operators.shifu.builders.resources import memory_request
from quintant.operators.shifu.observe.node_record import EdgeNodeRecord
from quintant.operators.shifu.observe.topology import Topology
from quintant.operators.shifu.observe.wakes import URGENT, WakeSource
from quintant.operators.shifu.plan.device import EVACUATED, place_somewhere
from quintant.operators.shifu.plan.evacuation import (
    Evacuee,
    GuardPhase,
    GuardState,
    LostNode,
    guard_step,
    leaving,
)
from quintant.operators.shifu.plan.node_phase import NodePhase
from quintant.operators.shifu.plan.placement import NoPlacement
from quintant.operators.shifu.rules.hints import resolve_hints
from quintant.runtime.cache.client import Client

TICK_SECONDS = 1.0
_AWAY = (NodePhase.SUSPECT, NodePhase.LOST)


class Evacuator:
    """Empties lost nodes; a runnable of the leader."""

    def __init__(self, topology: Topology, devices: WakeSource, nodes: WakeSource) -> None:
        self._topology, self._devices, self._nodes = topology, devices, nodes
        self._guard = GuardState()
        self._tried: tuple[int, frozenset[Request]] = (-1, frozenset())

    async def __call__(self, client: Client) -> None:
        await client.list(self._topology.kind)  # which waits until the cache is complete
        while True:
            self.look(monotonic())
            await asyncio.sleep(TICK_SECONDS)

    def look(self, now: float) -> None:
        """Decide for everybody who has to leave by now."""
        topology = self._topology
        if topology.options.reschedule == "off":
            return
        records = list(topology.nodes)
        self._watch(records, now)
        if topology.held:
            return
        lost = {each.name: _loss(each, now) for each in records if each.phase is NodePhase.LOST}
        due = leaving(self._evacuees(lost), lost, now) if lost else []
        tried = (topology.capacity_version, frozenset(each.key for each in due))
        if due and tried != self._tried:
            self._move(due)
            self._tried = (topology.capacity_version, tried[1])

    def _watch(self, records: list[EdgeNodeRecord], now: float) -> None:
        """Hold evacuations back while most nodes are away."""
        topology = self._topology
        away = sum(each.phase in _AWAY for each in records)
        expires = topology.options.guard_expires
        self._guard = guard_step(
            self._guard, known=len(records), away=away, now=now, expires=expires
        )
        held = self._guard.phase is GuardPhase.HOLDING
        if held != topology.held:
            topology.held = held
            self._nodes.wake_all(Request(each.name) for each in records)

    def _evacuees(self, lost: dict[str, LostNode]) -> list[Evacuee]:
        edgemap = self._topology.edgemap
        found = [
            self._evacuee(key, node)
            for node in lost
            for key in edgemap.devices_of(node)
            if (link := edgemap.link(key)) is not None and link.kind != "adopted"
        ]
        return [each for each in found if each is not None]

    def _evacuee(self, key: Request, node: str) -> Evacuee | None:
        device = self._topology.device(key)
        if device is None:
            return None
        hints = resolve_hints(device)
        return Evacuee(
            key,
            node,
            hints.priority,
            device.metadata.creation_timestamp or "",
            stays=hints.pinned or hints.reschedule == "never",
            autonomy=hints.autonomy,
        )

    def _move(self, due: list[Evacuee]) -> None:
        topology = self._topology
        for each in due:
            device = topology.device(each.key)
            if device is None:
                continue
            hints = resolve_hints(device)
            want = topology.request(device, hints, memory_request(device, hints))
            found = place_somewhere(topology.place, want)
            if isinstance(found, NoPlacement):
                topology.unplaced[each.key] = found.message
            else:
                topology.intend(each.key, found, EVACUATED)
        self._devices.wake_all((each.key for each in due), priority=URGENT)


def _loss(record: EdgeNodeRecord, now: float) -> LostNode:
    state = record.state
    if state is None:
        return LostNode(now, crashed=True)
    since = now if state.unready_since is None else state.unready_since
    return LostNode(since, state.crashed, record.autonomy)
