"""Limits that a tunnel brings are kept by the relay: 429, and when to come again."""

from __future__ import annotations

from quintant.wire.portal import RequestRate, RequestRates
from testbeds.relays import RelayTestbed, asked, request, saying


async def test_visitors_beyond_the_limit_get_429_and_others_are_served(
    testbed: RelayTestbed,
) -> None:
    relay = await testbed.relay()
    port = await testbed.service(saying("here"))
    slow = RequestRates(visitor=RequestRate(0.01, 2))
    limited = testbed.tunnel("limited", port, testbed.target(relay), limits=slow)
    free = testbed.tunnel("free", port, testbed.target(relay))
    await limited.connected()
    await free.connected()
    for _ in range(2):
        assert (await asked(relay, request("limited"))).endswith(b"here")
    refused = await asked(relay, request("limited"))
    assert refused.startswith(b"HTTP/1.1 429 ")
    assert b"\r\nRetry-After: 100\r\n" in refused
    assert b"\r\nX-Portal-Error: LIMIT\r\n" in refused
    assert (await asked(relay, request("free"))).endswith(b"here")
    text = relay.metrics.render(relay.names).decode()
    assert 'portal_relay_turned_away_total{reason="visitor_rate"} 1' in text
