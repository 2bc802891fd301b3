"""Addresses of pods: each one pod's, and none twice in a row."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from quintant.cluster.common.pod_ips import PodIPs

SMALL = IPv4Network("127.42.0.0/29")


def test_no_address_is_given_out_twice() -> None:
    addresses = PodIPs(SMALL)
    given = [addresses.take() for _ in range(5)]
    assert len(set(given)) == 5
    with pytest.raises(RuntimeError, match="all 5 addresses"):
        addresses.take()


def test_an_address_comes_back_last() -> None:
    addresses = PodIPs(SMALL)
    first = addresses.take()
    addresses.free(first)
    assert first not in [addresses.take() for _ in range(4)]
    assert addresses.take() == first


def test_a_pod_gets_the_address_it_had_if_nobody_has_it() -> None:
    addresses = PodIPs(SMALL)
    assert addresses.take("127.42.0.4") == "127.42.0.4"
    assert addresses.take("127.42.0.4") != "127.42.0.4"
    assert addresses.take("10.0.0.1").startswith("127.42.")


def test_a_pod_whose_cluster_has_another_network_keeps_its_place_in_it() -> None:
    addresses = PodIPs(IPv4Network("127.43.0.0/16"))
    assert addresses.take("127.42.3.4") == "127.43.3.4"
    assert addresses.take("127.44.3.4") == "127.43.0.1"


@pytest.mark.parametrize("before", ["127.42.0.0", "127.42.0.6", "127.42.0.7", "::1", "x", ""])
def test_what_no_pod_can_have_had_is_nobodys(before: str) -> None:
    assert PodIPs(SMALL).take(before) == "127.42.0.1"


def test_where_there_is_one_address_all_share_it() -> None:
    addresses = PodIPs(IPv4Network("127.0.0.1"))
    assert {addresses.take() for _ in range(3)} == {"127.0.0.1"}
