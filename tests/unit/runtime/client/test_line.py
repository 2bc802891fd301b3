"""Promises of quintant.runtime.client.line."""

from __future__ import annotations

from quintant.runtime.client.config import Config
from quintant.runtime.client.connection import Connection
from quintant.runtime.client.line import AGE_SECONDS, IDLE_SECONDS, Line
from quintant.runtime.client.proof import Proof
from quintant.runtime.client.transport import Call
from quintant.runtime.clock import monotonic
from quintant.testing.loop import advance
from unit.runtime.client.carrier import Carrier
from unit.runtime.client.pki import Authority

CONFIG = Config("http://127.0.0.1:1")


def connected() -> Connection:
    connection = Connection(lambda _: None)
    connection.connection_made(Carrier())
    return connection


async def test_line_fits_its_own_identity_until_it_is_old() -> None:
    pair = Authority().issue("jo")
    line = Line(CONFIG, None)
    assert line.fits(None, monotonic())
    assert not line.fits(pair, monotonic())
    await advance(AGE_SECONDS)
    assert not line.fits(None, monotonic())


async def test_connection_that_rested_least_is_used_first() -> None:
    line, older, newer = Line(CONFIG, None), connected(), connected()
    line.keep(older)
    line.keep(newer)
    assert line.rested(monotonic()) is newer
    assert line.rested(monotonic()) is older
    assert line.rested(monotonic()) is None


async def test_connection_that_rested_too_long_is_closed() -> None:
    line, connection = Line(CONFIG, None), connected()
    line.keep(connection)
    await advance(IDLE_SECONDS)
    assert line.rested(monotonic()) is None
    assert not connection.usable


async def test_connection_that_was_lost_at_rest_is_not_used() -> None:
    line, connection = Line(CONFIG, None), connected()
    line.keep(connection)
    connection.connection_lost(None)
    assert line.rested(monotonic()) is None
    line.keep(connection)
    assert line.rested(monotonic()) is None


async def test_retired_line_closes_what_rests_and_what_comes_to_rest() -> None:
    line, resting, busy = Line(CONFIG, None), connected(), connected()
    line.keep(resting)
    line.retire()
    line.keep(busy)
    assert not resting.usable
    assert not busy.usable


async def test_json_is_asked_for_unless_the_call_says_otherwise() -> None:
    line = Line(CONFIG, None)
    plain = line.question(Call("GET", "/a"), Proof({"authorization": "Bearer x"}))
    assert b"\r\nAccept: application/json\r\n" in plain
    assert b"\r\nauthorization: Bearer x\r\n" in plain
    other = line.question(Call("GET", "/a", headers={"Accept": "text/x"}), Proof())
    assert other.lower().count(b"\r\naccept:") == 1
