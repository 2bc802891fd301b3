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


def test_a_network_without_a_status_is_unknown() -> None:
    assert network_row(LightNetwork(metadata=named("a"), spec=SPEC)).state == "unknown"
