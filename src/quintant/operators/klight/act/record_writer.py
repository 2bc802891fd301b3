"""What klight does to pods: writes and clears records, and says what happened.

A join that happened and could not be written down is remembered and counts all the same; the
reconcile fails then, and writes it at its next turn before it does anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from quintant.core.clock import micro_timestamp, monotonic, parse_timestamp
from quintant.core.errors import Conflict, Invalid, NotFound
from quintant.core.object import ObjectMeta
from quintant.operators.klight.api import PeerPod, PeerStatus
from quintant.operators.klight.observe.membership import Membership, cleared
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.view import PeerView
from quintant.operators.klight.plan.actions import gate_condition
from quintant.runtime.controller.context import KeyContext

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class RecordWriter:
    """The means of one reconcile to change pods."""

    ctx: KeyContext
    memory: Memory

    async def enrol(self, peer: PeerView, via: str, stack: Sequence[PeerView]) -> Membership:
        """Record a peer as a member, on top of the stack."""
        record = Membership(
            str(peer.network), peer.incarnation, peer.address, self._moment(stack), via,
            peer.generation + 1,
        )  # fmt: skip
        self.memory.unsaved[peer.uid] = record
        self.memory.waits_no_more(peer.uid)
        await self.save(peer.pod, record)
        return record

    async def save(self, pod: PeerPod, record: Membership) -> None:
        """Write a record down; a pod that is gone needs none."""
        await self._write(pod, record.annotations())
        self.memory.unsaved.pop(pod.metadata.uid, None)

    async def clear(self, pod: PeerPod) -> None:
        """Note that a pod is no member any more."""
        self.memory.unsaved.pop(pod.metadata.uid, None)
        self.memory.misses.pop(pod.metadata.uid, None)
        self.memory.missing.pop(pod.metadata.uid, None)
        await self._write(pod, cleared(pod.metadata.annotations))

    def say(self, pod: PeerPod, reason: str, note: str) -> None:
        """Tell what happened to a pod."""
        self.ctx.event(pod, reason, note)

    def warn(self, pod: PeerPod, reason: str, note: str) -> None:
        """Tell what is wrong with a pod, at most once a minute."""
        if self.memory.warnings.allows(pod.metadata.uid, reason, monotonic()):
            self.ctx.event(pod, reason, note, type="Warning")

    async def open_gate(self, pod: PeerPod, waits: str) -> None:
        """Tell a pod that lists the readiness gate that it is a member, or for what it waits."""
        condition = gate_condition(pod, waits, self.ctx.clock.now())
        if condition is not None:
            with suppress(Conflict, Invalid, NotFound):  # This very pod is gone.
                await self.ctx.client.set_status(pod, PeerStatus(conditions=(condition,)))

    async def _write(self, pod: PeerPod, annotations: Mapping[str, str]) -> None:
        meta = ObjectMeta.like(pod, uid=pod.metadata.uid, annotations=annotations)
        try:
            await self.ctx.client.apply(PeerPod(metadata=meta))
        except (Conflict, Invalid, NotFound):
            # This very pod is gone; its namesake is somebody else.
            self.memory.unsaved.pop(pod.metadata.uid, None)

    def _moment(self, stack: Sequence[PeerView]) -> str:
        """Now, but later than the newest member's: the order of the stack is the order of joins."""
        now = self.ctx.clock.now()
        last = stack[0].record.joined_at if stack and stack[0].record else ""
        if last and parse_timestamp(last) >= now:
            now = parse_timestamp(last) + _TICK
        return micro_timestamp(now)
