"""Promises of quintant.agents.apiclient.object_path."""

from __future__ import annotations

import pytest

from quintant.agents.apiclient.object_path import ObjectPath


def test_object_is_found_where_the_server_has_it() -> None:
    device = ObjectPath("demo.dev/v1", "Device", "devices", "camera", "yard")
    assert device.target() == "/apis/demo.dev/v1/namespaces/yard/devices/camera"
    assert device.target("status").endswith("/devices/camera/status")
    assert ObjectPath("v1", "Node", "nodes", "a").target() == "/api/v1/nodes/a"
    assert str(device) == "Device yard/camera"


def test_name_cannot_lead_elsewhere() -> None:
    odd = ObjectPath("v1", "Node", "nodes", "a/../../secrets?x")
    assert odd.target() == "/api/v1/nodes/a%2F..%2F..%2Fsecrets%3Fx"


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_no_name_is_no_object(name: str) -> None:
    with pytest.raises(ValueError, match="is no name"):
        ObjectPath("v1", "Node", "nodes", name).target()
