"""Promises of quintant.client.http.idle."""

from __future__ import annotations

from quintant.client.http.idle import IDLE_SECONDS, IdleConnections
from quintant.core.clock import monotonic
from quintant.http.client_connection import ClientConnection
from quintant.testing.loop import advance
from unit.client.recording_transport import RecordingTransport


def connected() -> ClientConnection:
    connection = ClientConnection(lambda _: None)
    connection.connection_made(RecordingTransport())
    return connection


async def test_connection_that_rested_least_is_used_first() -> None:
    resting, older, newer = IdleConnections(), connected(), connected()
    resting.keep(older)
    resting.keep(newer)
    assert resting.take(monotonic()) is newer
    assert resting.take(monotonic()) is older
    assert resting.take(monotonic()) is None


async def test_connection_that_rested_too_long_is_closed() -> None:
    resting, connection = IdleConnections(), connected()
    resting.keep(connection)
    await advance(IDLE_SECONDS)
    assert resting.take(monotonic()) is None
    assert not connection.usable


async def test_connection_that_was_lost_at_rest_is_not_used() -> None:
    resting, connection = IdleConnections(), connected()
    resting.keep(connection)
    connection.connection_lost(None)
    assert resting.take(monotonic()) is None
    resting.keep(connection)
    assert resting.take(monotonic()) is None


async def test_retirement_closes_what_rests_and_what_comes_to_rest() -> None:
    resting, idle, busy = IdleConnections(), connected(), connected()
    resting.keep(idle)
    resting.retire()
    resting.keep(busy)
    assert not idle.usable
    assert not busy.usable


async def test_tidying_closes_what_rested_too_long_and_forgets_what_was_lost() -> None:
    resting, old, young, lost = IdleConnections(), connected(), connected(), connected()
    resting.keep(old)
    await advance(IDLE_SECONDS / 2)
    resting.keep(young)
    resting.keep(lost)
    lost.connection_lost(None)
    await advance(IDLE_SECONDS / 2)
    assert resting.tidy(monotonic())
    assert (old.usable, young.usable) == (False, True)
    await advance(IDLE_SECONDS)
    assert not resting.tidy(monotonic())
    assert not young.usable
