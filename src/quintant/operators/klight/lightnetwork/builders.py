"""The object that shows a network, and its status: numbers, phase and conditions. Pure.

It is made with the first pod of the network, and removed some time after its last.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from quintant.api.meta import Condition, condition_of, set_condition
from quintant.core.object import ObjectMeta, Request
from quintant.operators.klight.api.lightnetwork import (
    WRITABLE,
    LightNetwork,
    LightNetworkSpec,
    LightNetworkStatus,
    NetworkPeer,
    Phase,
    Repair,
)
from quintant.operators.klight.observed.memory import Memory
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.plan.parts import handled, requested
from quintant.operators.klight.plan.sweep import split_off
from quintant.operators.klight.rules import EVERYWHERE
from quintant.runtime.reconcile.kstatus import KstatusRule, reconciling, stalled, with_kstatus

STACK_SHOWN = 50
PEERS_SHOWN = 200
"""What fits into a status without making it a burden for the API server."""
SURE_CHECKS = 2
"""So many failed checks in a row of every member, and no client can write."""
NOT_SERVING = "NotServing"


def lightnetwork(request: Request, network: str) -> LightNetwork:
    """The LightNetwork of a network, as it is first made; users may edit its spec."""
    meta = ObjectMeta(name=request.name, namespace=request.namespace)
    return LightNetwork(metadata=meta, spec=LightNetworkSpec(network_id=network))


def status_of(
    lightnetwork: LightNetwork,
    observed: Observed,
    memory: Memory,
    now: datetime,
    repair: Repair,
) -> LightNetworkStatus:
    """The status of a network, following the one it has; `repair` is for those that say nothing."""
    written = writability(lightnetwork, observed, memory)
    phase, why = phase_of(observed, memory, written)
    down = [peer for peer in observed.candidates if peer.lapsed]
    suspects = [peer for peer in observed.stack if peer.uid in memory.probe.misses]
    stack, before = observed.stack, lightnetwork.status or LightNetworkStatus()
    return LightNetworkStatus(
        observed_generation=lightnetwork.metadata.generation,
        phase=phase,
        members=len(stack),
        ready=len(stack) - len(suspects),
        pending=len(observed.candidates) - len(down),
        down=len(down),
        contact=stack[0].address if stack else None,
        stack=tuple(peer.address for peer in stack[:STACK_SHOWN]),
        head_id=memory.probe.head or None,
        height=memory.probe.height or None,
        last_join=stack[0].record.joined_at if stack and stack[0].record else None,
        repair_handled=before.repair_handled
        if memory.show.handled is None
        else memory.show.handled,
        peers=tuple(_peers(observed, memory))[:PEERS_SHOWN],
        conditions=with_kstatus(
            _conditions(lightnetwork, phase, why, written, memory, now),
            _kstatus(lightnetwork, memory, repair),
            generation=lightnetwork.metadata.generation,
            now=now,
        ),
    )


class Writability(NamedTuple):
    """Whether a client can write, as far as it is known."""

    can: bool = True
    reason: str = "NoFailure"
    message: str = "no write failed that nobody repeated"


def writability(lightnetwork: LightNetwork, observed: Observed, memory: Memory) -> Writability:
    """Whether a client can write; what was known before a restart holds until it is known again."""
    before = condition_of(lightnetwork.status.conditions, WRITABLE) if lightnetwork.status else None
    reason = before.reason if before is not None else ""
    if nobody_serves(observed, memory, known=reason == NOT_SERVING):
        return Writability(False, NOT_SERVING, "no member serves")
    if memory.probe.unwritable:
        return Writability(False, "WriteFailed", memory.probe.unwritable)
    if memory.probe.forked:
        return Writability(False, "Forked", memory.probe.forked)
    if memory.probe.forked is None and before is not None and reason == "Forked":
        return Writability(False, "Forked", before.message)
    return Writability()


def nobody_serves(observed: Observed, memory: Memory, *, known: bool) -> bool:
    """Whether no member is there to be written to: all of them fail their checks, or are down.

    One failed check may be our own fault, unless it was known before.
    """
    if not observed.stack:
        return any(peer.lapsed for peer in observed.candidates)
    if known and not memory.probe.sweeps:
        return True
    least = 1 if known else SURE_CHECKS
    return all(memory.probe.misses.get(peer.uid, 0) >= least for peer in observed.stack)


def phase_of(
    observed: Observed, memory: Memory, written: Writability = Writability()
) -> tuple[Phase, str]:
    """The phase of a network, and why."""
    if not observed.peers:
        return "Empty", "no pod has the label"
    if not observed.stack:
        return "Forming", _waiting(observed, memory)
    lost = split_off(memory.probe.missing) & {peer.uid for peer in observed.stack}
    if lost:
        names = ", ".join(str(peer.key) for peer in observed.stack if peer.uid in lost)
        return "Split", f"not in the contact's view: {names}"
    if not written.can:
        return "Degraded", written.message
    if memory.join.trouble:
        return "Degraded", memory.join.trouble
    bad = [str(peer.key) for peer in observed.stack if peer.uid in memory.probe.misses]
    bad += [str(peer.key) for peer in observed.candidates if peer.lapsed]
    if bad:
        return "Degraded", f"not answering: {', '.join(bad[:5])}"
    return "Ready", f"{len(observed.stack)} members"


def _waiting(observed: Observed, memory: Memory) -> str:
    for peer in observed.candidates:
        known = memory.join.waits.get(peer.uid)
        if known is not None and known.reason:
            return f"{peer.key}: {known.reason}"
    for peer in observed.excluded:
        return f"{peer.key}: {peer.obstacle}"
    return "about to be formed"


def _conditions(
    lightnetwork: LightNetwork,
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
    if memory.show.repaired:
        rows.append(("Repairing", False, "Done", memory.show.repaired))
    generation = lightnetwork.metadata.generation
    conditions = lightnetwork.status.conditions if lightnetwork.status else ()
    for name, status, reason, message in rows:
        conditions = set_condition(
            conditions, name,
            status=status, reason=reason, message=message, generation=generation, now=now,
        )  # fmt: skip
    return conditions


def _kstatus(
    lightnetwork: LightNetwork, memory: Memory, default: Repair
) -> tuple[KstatusRule, ...]:
    """A network that has come apart waits for its user, unless it is repaired without one."""
    repaired = (lightnetwork.spec.repair or default) == "auto"
    done = handled(lightnetwork) if memory.show.handled is None else memory.show.handled
    due = requested(lightnetwork) != done
    verdict = reconciling if repaired or due else stalled
    return (
        verdict("Healthy", "False", "Split"),
        verdict(WRITABLE, "False", "Forked"),
        reconciling("Healthy", "False", "Forming", "Degraded"),
    )


def _peers(observed: Observed, memory: Memory) -> Iterator[NetworkPeer]:
    for pod in memory.leave.leaving.values():
        # A process that starts after a crash continues with those that stand here.
        name, uid = _named(observed, pod.key), pod.metadata.uid
        yield NetworkPeer(pod=name, uid=uid, state="Moving", message="it has not left yet")
    for peer in observed.stack:
        yield _shown(observed, peer, "Suspect" if peer.uid in memory.probe.misses else "Up")
    for peer in observed.candidates:
        known = memory.join.waits.get(peer.uid)
        message = known.reason if known is not None else ""
        state = "Moving" if peer.elsewhere else "Down" if peer.lapsed else "Waiting"
        yield _shown(observed, peer, state, message)
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
