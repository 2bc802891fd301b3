"""Which changes of a device wake it."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core.codec import from_plain
from quintant.operators.shifu.observe.triggers import DEVICE_CHANGED, SPEC_CHANGED
from quintant.operators.shifu.observed.device_view import ShifuDevice

SCHEDULED = {"type": "Scheduled", "status": "True", "reason": "Memory", "observedGeneration": 2}


def device(*, generation: int = 2, address: str = "b:1", **status: Any) -> ShifuDevice:
    said = {"edgedevicephase": "Running", "conditions": [SCHEDULED], **status}
    meta = {"name": "a", "namespace": "devices", "generation": generation}
    spec = {"protocol": "HTTP", "address": address}
    return from_plain(ShifuDevice, {"metadata": meta, "spec": spec, "status": said})


@pytest.mark.parametrize(
    "now",
    [
        device(address="c:1"),
        device(edgedevicephase="Unknown"),
        device(conditions=[{**SCHEDULED, "observedGeneration": 1}]),
        device(conditions=[]),
    ],
)
def test_a_device_is_woken_when_something_is_not_as_we_know_it(now: ShifuDevice) -> None:
    assert DEVICE_CHANGED(device(), now)


@pytest.mark.parametrize("now", [device(generation=3), device(busy=True)])
def test_what_agents_do_every_second_wakes_nobody(now: ShifuDevice) -> None:
    assert not DEVICE_CHANGED(device(), now)


def test_where_only_a_spec_moves_the_generation_it_wakes_the_device() -> None:
    assert SPEC_CHANGED(device(), device(generation=3))
    assert not SPEC_CHANGED(device(), device(busy=True))
