"""Networks on the console."""

from __future__ import annotations

import pytest

from quintant.operators.klight.api.lightnetwork import (
    LightNetwork,
    LightNetworkSpec,
    LightNetworkStatus,
    NetworkPeer,
)
from quintant.operators.klight.panel import network_row
from quintant.testing import named

SPEC = LightNetworkSpec(network_id="a")


@pytest.mark.parametrize(
    ("phase", "state"),
    [("Ready", "well"), ("Empty", "well"), ("Forming", "working"), ("Split", "broken"),
     ("Degraded", "broken"), ("Strange", "unknown"), (None, "unknown")],
)  # fmt: skip
def test_a_network_is_what_its_phase_says(phase: str | None, state: str) -> None:
    status = LightNetworkStatus(phase=phase, members=2, ready=2)
    assert network_row(LightNetwork(metadata=named("a"), spec=SPEC, status=status)).state == state


def test_a_broken_network_names_a_peer_that_is_in_trouble() -> None:
    peers = (NetworkPeer(pod="p-0", uid="1"), NetworkPeer(pod="p-1", uid="2", message="silent"))
    status = LightNetworkStatus(phase="Degraded", peers=peers)
    row = network_row(LightNetwork(metadata=named("a"), spec=SPEC, status=status))
    assert row.sentence == "p-1: silent"


def test_the_members_of_a_network_are_named_and_those_in_trouble_come_first() -> None:
    peers = tuple(NetworkPeer(pod=f"p-{at}", uid=str(at), state="Up") for at in range(9))
    down = NetworkPeer(pod="p-9", uid="9", state="Down")
    status = LightNetworkStatus(phase="Degraded", peers=(*peers, down))
    row = network_row(LightNetwork(metadata=named("a"), spec=SPEC, status=status))
    assert row.cells[-1] == "p-9 (down), p-0, p-1, p-2, p-3, p-4, p-5, p-6 and 2 more"


def test_a_network_without_a_status_is_unknown() -> None:
    assert network_row(LightNetwork(metadata=named("a"), spec=SPEC)).state == "unknown"
