from __future__ import annotations

from quintant.agents.multiplex.duplex import DuplexStream
from quintant.agents.relay.tunnel.stream_pool import MOST, StreamPool
from unit.agents.multiplex.ends import End, joined


def opened(relay: End, peer: str) -> DuplexStream:
    return DuplexStream(relay.open(peer).stream)


async def test_a_stream_carries_requests_of_its_own_visitor_only() -> None:
    relay, _ = joined(limit=1000)
    pool = StreamPool()
    one, other = opened(relay, "192.0.2.1"), opened(relay, "192.0.2.2")
    pool.give("192.0.2.1", one, 0.0)
    pool.give("192.0.2.2", other, 1.0)
    assert pool.take("192.0.2.3") is None
    assert pool.take("192.0.2.1") is one
    assert pool.take("192.0.2.1") is None
    assert pool.take("192.0.2.2") is other


async def test_a_full_pool_keeps_those_that_were_used_last() -> None:
    relay, _ = joined(limit=1000)
    pool = StreamPool()
    first = opened(relay, "192.0.2.1")
    pool.give("192.0.2.1", first, 0.0)
    for at in range(MOST):
        pool.give(f"198.51.100.{at}", opened(relay, f"198.51.100.{at}"), float(at))
    assert len(pool) == MOST
    assert pool.take("192.0.2.1") is None
    assert not first.quiet
    assert pool.take(f"198.51.100.{MOST - 1}") is not None
