"""Promises of quintant.agents.deviceshifu.drivers.device_connections."""

from __future__ import annotations

from quintant.agents.deviceshifu.drivers.device_connections import (
    FRESH_SECONDS,
    MOST_IDLE,
    DeviceConnections,
)
from quintant.http.client_connection import ClientConnection
from quintant.testing.loop import advance
from unit.client.recording_transport import RecordingTransport


def connected(idle: DeviceConnections) -> tuple[ClientConnection, RecordingTransport]:
    connection, wire = ClientConnection(idle.forget), RecordingTransport()
    connection.connection_made(wire)
    return connection, wire


async def test_the_newest_is_used_first() -> None:
    idle = DeviceConnections()
    (first, _), (second, _) = connected(idle), connected(idle)
    idle.keep(first)
    idle.keep(second)
    assert [idle.take(), idle.take(), idle.take()] == [second, first, None]


async def test_connections_that_nobody_used_for_a_while_end_while_others_are_used() -> None:
    idle = DeviceConnections()
    (busy, _), (left, wire) = connected(idle), connected(idle)
    idle.keep(left)
    for _ in range(4):
        idle.keep(busy)
        await advance(FRESH_SECONDS / 3)
        assert idle.take() is busy
    assert wire.aborted
    assert len(idle) == 0


async def test_one_that_broke_is_not_used() -> None:
    idle = DeviceConnections()
    (broken, _), (good, _) = connected(idle), connected(idle)
    idle.keep(good)
    idle.keep(broken)
    broken.connection_lost(None)
    assert idle.take() is good


async def test_more_than_enough_are_not_kept() -> None:
    idle = DeviceConnections()
    wires = []
    for _ in range(MOST_IDLE + 1):
        connection, wire = connected(idle)
        wires.append(wire)
        idle.keep(connection)
    assert [wire.aborted for wire in wires] == [False] * MOST_IDLE + [True]
