from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec

from quintant.agents.tunnel.status import TunnelStatus
from quintant.operators.portal import remote
from quintant.wire.tunnelreport import DialState, RelayReport, ServiceReport

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        return self.now


def relay(state: DialState, **rest: object) -> RelayReport:
    return msgspec.structs.replace(RelayReport("one", "wss://a/relay", state), **rest)


async def test_the_operator_understands_what_is_told() -> None:
    status = TunnelStatus("uid", Clock())
    status.tell(relay(DialState.CONNECTED, public_url="https://hello.a"))
    status.reach("refused")
    told = remote.parse(msgspec.json.encode(status.report()))
    assert told is not None
    assert (told.v, told.seq, told.pod, told.draining) == (1, 2, "uid", False)
    assert told.service == ServiceReport(False, "refused")
    assert told.relays == (
        RelayReport(
            name="one",
            url="wss://a/relay",
            state="Connected",
            since="2026-01-01T00:00:00Z",
            public_url="https://hello.a",
        ),
    )


async def test_visitors_are_told_of_together_and_only_if_there_were_any() -> None:
    status = TunnelStatus("uid", Clock())
    for _ in range(3):
        status.visit()
    before = status.report().seq
    status.visit()
    status.tell_visits()
    status.tell_visits()
    assert (await status.after(before)).visits == 4
    assert status.report().seq == before + 1


async def test_since_moves_only_with_the_state() -> None:
    clock = Clock()
    status = TunnelStatus("uid", clock)
    status.tell(relay(DialState.CONNECTING))
    clock.now += timedelta(seconds=5)
    status.tell(relay(DialState.CONNECTING, attempts=2))
    assert status.relays[0].since == "2026-01-01T00:00:00Z"
    status.tell(relay(DialState.CONNECTED))
    assert status.relays[0].since == "2026-01-01T00:00:05Z"
    assert status.connected


async def test_each_change_has_a_number_and_what_is_no_change_has_none() -> None:
    status = TunnelStatus("uid", Clock())
    status.tell(relay(DialState.CONNECTED))
    status.tell(relay(DialState.CONNECTED))
    status.measure("one", 3.5)
    status.reach("")
    assert status.report().seq == 1
    assert status.report().relays[0].rtt_ms == 3.5


async def test_who_waits_hears_of_the_next_change() -> None:
    status = TunnelStatus("uid", Clock())
    async with asyncio.TaskGroup() as group:
        heard = group.create_task(status.after(0))
        await asyncio.sleep(1)
        assert not heard.done()
        status.drain()
    assert heard.result().draining


def at(name: str, state: DialState) -> RelayReport:
    return RelayReport(name, f"wss://{name}/relay", state)


async def test_a_tunnel_that_starts_is_ready_once_every_relay_is_connected() -> None:
    status = TunnelStatus("uid", Clock())
    for name in ("a", "b"):
        status.tell(at(name, DialState.CONNECTING))
    seen = []
    for name, state in (
        ("a", DialState.CONNECTED), ("b", DialState.CONNECTED),
        ("a", DialState.BACKOFF), ("b", DialState.BACKOFF),
    ):  # fmt: skip
        status.tell(at(name, state))
        seen.append((status.connected, status.ready))
    # Later one relay is enough: it has visitors, and nobody is there in its place.
    assert seen == [(True, False), (True, True), (True, True), (False, False)]


async def test_a_tunnel_does_not_wait_for_ever_for_a_relay_that_is_away() -> None:
    status = TunnelStatus("uid", Clock())
    for name in ("a", "b"):
        status.tell(at(name, DialState.BACKOFF))
    status.settle()
    seen = [status.ready]
    status.tell(at("a", DialState.CONNECTED))
    seen.append(status.ready)
    status.drain()
    assert [*seen, status.ready] == [False, True, False]


async def test_long_errors_are_cut() -> None:
    status = TunnelStatus("uid", Clock())
    for number in range(16):
        name = f"relay-{number}"
        status.tell(RelayReport(name, f"wss://{name}.example/relay", last_error="x" * 9999))
    assert len(msgspec.json.encode(status.report())) < 8192
