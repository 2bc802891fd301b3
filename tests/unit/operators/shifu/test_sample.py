"""The factory floor of the demo is what its page says."""

from __future__ import annotations

from collections import Counter

from quintant.core.codec import from_plain
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.rules.serving import not_served
from quintant.operators.shifu.sample import SAMPLE
from quintant.operators.shifu.sample.floor import FLOOR, SIMULATORS, connected_devices


def test_twelve_devices_of_six_protocols_are_in_three_cities() -> None:
    assert len(FLOOR) == 12
    assert len({each.protocol for each in FLOOR.values()}) == 6
    assert set(Counter(each.city for each in FLOOR.values())) == {"paris", "berlin", "singapore"}
    assert {each.simulator for each in FLOOR.values()} == set(SIMULATORS)


def test_three_nodes_run_processes_and_two_dozen_are_simulated() -> None:
    nodes = [each["metadata"]["labels"] for each in SAMPLE.manifests if each["kind"] == "Node"]
    assert Counter("simulated.quintant.dev/node" in labels for labels in nodes) == {
        True: 24,
        False: 3,
    }


def test_every_device_can_be_served() -> None:
    devices = [
        from_plain(EdgeDevice, each) for each in connected_devices() if each["kind"] == "EdgeDevice"
    ]
    assert [not_served(each) for each in devices] == [None] * len(devices)
    assert all(each.metadata.name in FLOOR for each in devices)
