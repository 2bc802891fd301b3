"""What a LightNetwork says: numbers, phase and conditions from what was seen. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple

from quintant.api.meta import Condition, condition_of, set_condition
from quintant.core.object import Request
from quintant.operators.klight.lightnetwork.api import (
    WRITABLE,
    LightNetwork,
    LightNetworkStatus,
    NetworkPeer,
    Phase,
)
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.view import Observed, PeerView
from quintant.operators.klight.plan.candidates import PACE_SECONDS
from quintant.operators.klight.plan.probe import split_off
from quintant.operators.klight.rules import EVERYWHERE

STACK_SHOWN = 50
PEERS_SHOWN = 200
"""What fits into a status without making it a burden for the API server."""
STATUS_SECONDS = 1.0
"""The status of a network is written at most so often: a thousand joins are not a thousand."""


def write_pause(written: float, now: float) -> float:
    """Seconds until a status may follow the one before; 0 if it may.

    Never a sliver of a second that a float cannot add to the time: that would spin.
    """
    left = written + STATUS_SECONDS - now
    return max(PACE_SECONDS, left) if left > 0 else 0.0


def status_of(
    shown: LightNetwork, observed: Observed, memory: Memory, now: datetime
) -> LightNetworkStatus:
    """The status of a network, following the one it has."""
    written = writability(shown, memory)
    phase, why = phase_of(observed, memory, written)
    down = [peer for peer in observed.candidates if peer.lapsed]
    suspects = [peer for peer in observed.stack if peer.uid in memory.misses]
    stack, before = observed.stack, shown.status or LightNetworkStatus()
    return LightNetworkStatus(
        observed_generation=shown.metadata.generation,
        phase=phase,
        members=len(stack),
        ready=len(stack) - len(suspects),
        pending=len(observed.candidates) - len(down),
        down=len(down),
        contact=stack[0].address if stack else None,
        stack=tuple(peer.address for peer in stack[:STACK_SHOWN]),
        head_id=memory.head or None,
        height=memory.height or None,
        last_join=stack[0].record.joined_at if stack and stack[0].record else None,
        repair_handled=before.repair_handled if memory.handled is None else memory.handled,
        peers=tuple(_peers(observed, memory))[:PEERS_SHOWN],
        conditions=_conditions(shown, phase, why, written, memory, now),
    )


class Writability(NamedTuple):
    """Whether somebody can write, as far as it is known."""

    can: bool = True
    reason: str = "NoFailure"
    message: str = "no write failed that nobody repeated"


def writability(shown: LightNetwork, memory: Memory) -> Writability:
    """Whether somebody can write; what was known before a restart holds until it is known anew."""
    if memory.unwritable:
        return Writability(False, "WriteFailed", memory.unwritable)
    if memory.forked:
        return Writability(False, "Forked", memory.forked)
    before = condition_of(shown.status.conditions, WRITABLE) if shown.status else None
    if memory.forked is None and before is not None and before.reason == "Forked":
        return Writability(False, "Forked", before.message)
    return Writability()


_NORMAL: Literal["Normal"] = "Normal"
_WARNING: Literal["Warning"] = "Warning"


class NetworkEvent(NamedTuple):
    """What is told of a network itself."""

    reason: str
    note: str
    type: Literal["Normal", "Warning"] = "Normal"


def changes(shown: LightNetwork, status: LightNetworkStatus) -> Iterator[NetworkEvent]:
    """What is worth an event on the network itself: another phase, and whether it takes writes."""
    before = shown.status or LightNetworkStatus()
    ready = condition_of(status.conditions, "Ready")
    if status.phase != before.phase and status.phase is not None:
        bad = status.phase in ("Degraded", "Split")
        note, kind = (ready.message if ready else "") or "", _WARNING if bad else _NORMAL
        yield NetworkEvent(status.phase, note, kind)
    was, now = (condition_of(each.conditions, WRITABLE) for each in (before, status))
    if now is not None and now.status != (was.status if was is not None else "True"):
        note = now.message or ""
        if now.status == "True":
            yield NetworkEvent("Writable", note)
        else:
            yield NetworkEvent("NotWritable", note, "Warning")


def phase_of(
    observed: Observed, memory: Memory, written: Writability = Writability()
) -> tuple[Phase, str]:
    """The phase of a network, and why."""
    if not observed.peers:
        return "Empty", "no pod has the label"
    if not observed.stack:
        return "Forming", _waiting(observed, memory)
    lost = split_off(memory.missing) & {peer.uid for peer in observed.stack}
    if lost:
        names = ", ".join(str(peer.key) for peer in observed.stack if peer.uid in lost)
        return "Split", f"not in the contact's view: {names}"
    if not written.can:
        return "Degraded", written.message
    if memory.trouble:
        return "Degraded", memory.trouble
    bad = [str(peer.key) for peer in observed.stack if peer.uid in memory.misses]
    bad += [str(peer.key) for peer in observed.candidates if peer.lapsed]
    if bad:
        return "Degraded", f"not answering: {', '.join(bad[:5])}"
    return "Ready", f"{len(observed.stack)} members"


def _waiting(observed: Observed, memory: Memory) -> str:
    for peer in observed.candidates:
        known = memory.waits.get(peer.uid)
        if known is not None and known.reason:
            return f"{peer.key}: {known.reason}"
    for peer in observed.excluded:
        return f"{peer.key}: {peer.obstacle}"
    return "about to be formed"


def _conditions(
    shown: LightNetwork,
    phase: Phase,
    why: str,
    written: Writability,
    memory: Memory,
    now: datetime,
) -> tuple[Condition, ...]:
    ready = written.can and phase not in ("Forming", "Empty")
    rows: list[tuple[str, bool, str, str]] = [
        ("Ready", ready, phase if written.can else "NotWritable", why),
        ("Healthy", phase == "Ready", phase, why),
        (WRITABLE, *written),
    ]
    if memory.repaired:
        rows.append(("Repairing", False, "Done", memory.repaired))
    found, generation = shown.status.conditions if shown.status else (), shown.metadata.generation
    for name, status, reason, said in rows:
        found = set_condition(
            found, name, status=status, reason=reason, message=said, generation=generation, now=now
        )
    return found


def _peers(observed: Observed, memory: Memory) -> Iterator[NetworkPeer]:
    for pod in memory.leaving.values():
        # Whoever starts after a crash goes on with those that stand here.
        name, uid = _named(observed, pod.key), pod.metadata.uid
        yield NetworkPeer(pod=name, uid=uid, state="Moving", message="it has not left yet")
    for peer in observed.stack:
        yield _shown(observed, peer, "Suspect" if peer.uid in memory.misses else "Up")
    for peer in observed.candidates:
        known = memory.waits.get(peer.uid)
        said = known.reason if known is not None else ""
        state = "Moving" if peer.elsewhere else "Down" if peer.lapsed else "Waiting"
        yield _shown(observed, peer, state, said)
    for peer in observed.excluded:
        yield _shown(observed, peer, "Invalid", peer.obstacle)


def _shown(observed: Observed, peer: PeerView, state: str, message: str = "") -> NetworkPeer:
    record = peer.record if peer.current else None
    return NetworkPeer(
        pod=_named(observed, peer.key),
        uid=peer.uid,
        address=peer.address,
        state=state,
        joined_at=record.joined_at if record else None,
        joined_via=record.joined_via if record else None,
        message=message or None,
    )


def _named(observed: Observed, key: Request) -> str:
    return str(key) if observed.key.namespace == EVERYWHERE else key.name


def states(observed: Observed, memory: Memory) -> dict[str, int]:
    """How many pods are in which state, for the metrics."""
    counts = dict.fromkeys(("Up", "Suspect", "Down", "Waiting", "Moving", "Invalid"), 0)
    for peer in _peers(observed, memory):
        counts[peer.state] += 1
    return counts
