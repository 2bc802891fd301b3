"""Clients are spread evenly, and come back where they were sent."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.kubeproxy.load_balancing import REMEMBERED, RoundRobinBalancer
from quintant.cluster.kubeproxy.routes import RealServer, ServiceRoute, VirtualServer

FRONT = VirtualServer("TCP", "127.96.0.20", 80)


def members(count: int) -> tuple[RealServer, ...]:
    return tuple(RealServer(f"10.0.0.{at}", 80) for at in range(count))


@given(st.integers(1, 9), st.integers(1, 9))
def test_connections_are_spread_evenly(count: int, rounds: int) -> None:
    balancer = RoundRobinBalancer(ServiceRoute(FRONT, members(count)))
    firsts = Counter(balancer.candidates("c", 0.0)[0] for _ in range(count * rounds))
    assert set(firsts.values()) == {rounds}


@given(st.integers(0, 9))
def test_every_backend_is_tried_once(count: int) -> None:
    assert sorted(
        RoundRobinBalancer(ServiceRoute(FRONT, members(count))).candidates("c", 0.0)
    ) == list(members(count))


def test_client_comes_back_until_its_time_is_up_or_its_backend_gone() -> None:
    balancer = RoundRobinBalancer(ServiceRoute(FRONT, members(3), affinity=10.0))
    held = members(3)[2]
    balancer.remember("c", held, 0.0)
    assert {balancer.candidates("c", 9.0)[0] for _ in range(3)} == {held}
    assert len({balancer.candidates("other", 9.0)[0] for _ in range(3)}) == 3
    assert len({balancer.candidates("c", 11.0)[0] for _ in range(3)}) == 3
    balancer.remember("c", held, 11.0)
    balancer.route = ServiceRoute(FRONT, members(2), affinity=10.0)
    assert held not in balancer.candidates("c", 12.0)


def test_memory_of_clients_is_bounded() -> None:
    balancer = RoundRobinBalancer(ServiceRoute(FRONT, members(2), affinity=10.0))
    last = members(2)[1]
    for at in range(REMEMBERED + 1):
        balancer.remember(str(at), last, 0.0)
    assert {balancer.candidates("1", 1.0)[0] for _ in range(2)} == {last}
    assert len({balancer.candidates("0", 1.0)[0] for _ in range(2)}) == 2
