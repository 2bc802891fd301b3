"""Names of what is composed: from the device's key alone, legal, and no two alike."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.object import Request
from quintant.operators.shifu.builders.names import base_name, config_name

LEGAL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
NAMES = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,80}[a-z0-9])?", fullmatch=True)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (Request("edgedevice-agv", "devices"), "deviceshifu-agv"),
        (Request("camera", "devices"), "deviceshifu-camera"),
        (Request("camera", "annex"), "deviceshifu-camera-"),
        (Request("a.b", "devices"), "deviceshifu-a-b-"),
        (Request("edgedevice-", "devices"), "deviceshifu-edgedevice-"),
    ],
)
def test_a_device_is_recognised_in_the_name(key: Request, name: str) -> None:
    assert base_name(key).startswith(name)


@given(NAMES, st.sampled_from(["devices", "annex"]))
def test_names_are_legal_for_services_and_leave_room_for_pods(name: str, namespace: str) -> None:
    key = Request(name, namespace)
    assert LEGAL.fullmatch(base_name(key))
    assert len(base_name(key)) <= 52
    assert len(config_name(key)) <= 63


@given(st.lists(st.tuples(NAMES, st.sampled_from(["devices", "annex"])), unique=True, max_size=20))
def test_no_two_devices_have_one_name(keys: list[tuple[str, str]]) -> None:
    # Those that differ by upstream's prefix alone are one device to its users, too.
    plain = {(name.removeprefix("edgedevice-"), namespace) for name, namespace in keys}
    made = {base_name(Request(name, namespace)) for name, namespace in plain}
    assert len(made) == len(plain)
