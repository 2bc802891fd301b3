from __future__ import annotations

import pytest

from quintant.cluster.apiserver.meta.service_ranges import PORT_RANGE_ERROR, family_of


@pytest.mark.parametrize(("address", "family"), [("127.96.0.1", "IPv4"), ("fd00::1", "IPv6")])
def test_an_address_is_of_a_family(address: str, family: str) -> None:
    assert family_of(address) == family


def test_the_refusal_of_a_port_has_the_first_and_the_last_of_the_range() -> None:
    assert PORT_RANGE_ERROR.endswith("30000-32767")
