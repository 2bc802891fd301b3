"""LightNetworks as each phase leaves them behind."""

from __future__ import annotations

from quintant.core.object import ObjectMeta, replace
from quintant.operators.klight.api.lightnetwork import LightNetwork, LightNetworkSpec, Repair
from quintant.operators.klight.lightnetwork.builders import status_of
from quintant.operators.klight.observed.memory import JoinMemory, Memory, ProbeMemory
from quintant.operators.klight.observed.network import Observed
from testbeds.kstatus import PhaseRecord
from unit.operators.klight.plan.peers import KEY, NOW, member, peer

MEMBERS = (member("p2"), member("p1"))


def network(
    observed: Observed, memory: Memory = Memory(), repair: Repair = "manual"
) -> LightNetwork:
    """What is shown of a network."""
    meta = ObjectMeta(name="a", namespace="ns", generation=3)
    plain = LightNetwork(metadata=meta, spec=LightNetworkSpec(network_id="a"))
    return replace(plain, status=status_of(plain, observed, memory, NOW, repair))


WHOLE = Observed(KEY, MEMBERS)
SPLIT = Memory(probe=ProbeMemory(missing={"p1": 2}))
FORKED = Memory(probe=ProbeMemory(forked="p1 has another chain"))
PHASES = (
    PhaseRecord("Empty", network(Observed(KEY)), "InProgress"),
    PhaseRecord("Forming", network(Observed(KEY, (), (peer("p1"),))), "InProgress"),
    PhaseRecord("Ready", network(WHOLE), "Current"),
    PhaseRecord("Degraded", network(WHOLE, Memory(join=JoinMemory(trouble="no"))), "InProgress"),
    PhaseRecord("Split-auto", network(WHOLE, SPLIT, "auto"), "InProgress"),
    PhaseRecord("Split-manual", network(WHOLE, SPLIT), "Failed"),
    PhaseRecord("Forked-auto", network(WHOLE, FORKED, "auto"), "InProgress"),
    PhaseRecord("Forked-off", network(WHOLE, FORKED, "off"), "Failed"),
)
