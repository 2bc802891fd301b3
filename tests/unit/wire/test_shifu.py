"""Which device a Secret is for: the one that it names, at the host that it names."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.wire.shifu import SECRET_DEVICES, is_shared, not_shared, secret_consumer

PRESS = "devices/press@10.0.7.5:4840"


@pytest.mark.parametrize(
    ("address", "shared"),
    [
        ("opc.tcp://10.0.7.5:4840/x", True),
        ("10.0.7.5", True),
        ("opc.tcp://someone@10.0.7.5/", True),
        ("10.0.7.50:4840", False),
        ("10.0.7.5:4841", False),
        ("opc.tcp://10.0.7.5:4840@evil:4840/", False),
        ("10.0.7.5:4840,x", False),
        ("", False),
    ],
)
def test_a_device_has_it_at_the_host_that_is_listed(address: str, shared: bool) -> None:
    assert (
        is_shared(f"a/b@c:1, {PRESS}", secret_consumer("devices", "press", address, 4840)) is shared
    )


def test_another_device_at_the_same_host_does_not_have_it() -> None:
    for namespace, name in (("devices", "thief"), ("other", "press")):
        assert not is_shared(PRESS, secret_consumer(namespace, name, "10.0.7.5", 4840))
    assert not is_shared("", "")


@given(st.text(max_size=40))
def test_no_address_puts_more_than_itself_into_the_command(address: str) -> None:
    consumer = secret_consumer("devices", "press", address, 4840)
    told = not_shared("s", "deviceshifu", PRESS, consumer)
    if not consumer:
        assert "kubectl" not in told
        return
    words = shlex.split(told.partition("if it should: ")[2])
    assert words[:6] == ["kubectl", "-n", "deviceshifu", "annotate", "secret", "s"]
    assert words[6:] == ["--overwrite", f"{SECRET_DEVICES}={PRESS},{consumer}"]
    assert "," not in consumer
