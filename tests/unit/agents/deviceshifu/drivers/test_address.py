"""Which addresses a device may be at; nothing is dialled here."""

from __future__ import annotations

import pytest

from quintant.agents.deviceshifu.drivers.address import special_device_kind
from quintant.agents.deviceshifu.options import parse

DEVICE = {"EDGEDEVICE_NAME": "press"}


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "127.0.0.1", "10.0.7.5", "fd00::7"])
def test_devices_of_an_installation_and_drivers_in_the_pod_are_allowed(address: str) -> None:
    assert special_device_kind(address) == ""


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("::ffff:169.254.1.1", "link-local"),
        ("fd00:ec2::254", "a cloud's metadata service"),
        ("224.0.0.1", "multicast"),
    ],
)
def test_special_addresses_are_refused(address: str, kind: str) -> None:
    assert special_device_kind(address) == kind


def test_special_addresses_are_allowed_by_the_operator_alone() -> None:
    assert not parse([], DEVICE).special_addresses
    assert not parse([], {**DEVICE, "SPECIAL_ADDRESSES": "1"}).special_addresses
    assert parse([], {**DEVICE, "SPECIAL_ADDRESSES": "true"}).special_addresses
