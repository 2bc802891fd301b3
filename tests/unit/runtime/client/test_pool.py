"""Promises of quintant.runtime.client.pool."""

from __future__ import annotations

from quintant.runtime.client.config import Config
from quintant.runtime.client.connection import Connection
from quintant.runtime.client.pool import AGE_SECONDS, IDLE_SECONDS, Pool
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


async def test_pool_fits_its_own_identity_until_it_is_old() -> None:
    pair = Authority().issue("jo")
    pool = Pool(CONFIG, None)
    assert pool.fits(None, monotonic())
    assert not pool.fits(pair, monotonic())
    await advance(AGE_SECONDS)
    assert not pool.fits(None, monotonic())


async def test_connection_that_rested_least_is_used_first() -> None:
    pool, older, newer = Pool(CONFIG, None), connected(), connected()
    pool.keep(older)
    pool.keep(newer)
    assert pool.rested(monotonic()) is newer
    assert pool.rested(monotonic()) is older
    assert pool.rested(monotonic()) is None


async def test_connection_that_rested_too_long_is_closed() -> None:
    pool, connection = Pool(CONFIG, None), connected()
    pool.keep(connection)
    await advance(IDLE_SECONDS)
    assert pool.rested(monotonic()) is None
    assert not connection.usable


async def test_connection_that_was_lost_at_rest_is_not_used() -> None:
    pool, connection = Pool(CONFIG, None), connected()
    pool.keep(connection)
    connection.connection_lost(None)
    assert pool.rested(monotonic()) is None
    pool.keep(connection)
    assert pool.rested(monotonic()) is None


async def test_retired_pool_closes_what_rests_and_what_comes_to_rest() -> None:
    pool, resting, busy = Pool(CONFIG, None), connected(), connected()
    pool.keep(resting)
    pool.retire()
    pool.keep(busy)
    assert not resting.usable
    assert not busy.usable


async def test_json_is_asked_for_unless_the_call_says_otherwise() -> None:
    pool = Pool(CONFIG, None)
    plain = pool.question(Call("GET", "/a"), Proof({"authorization": "Bearer x"}))
    assert b"\r\nAccept: application/json\r\n" in plain
    assert b"\r\nauthorization: Bearer x\r\n" in plain
    other = pool.question(Call("GET", "/a", headers={"Accept": "text/x"}), Proof())
    assert other.lower().count(b"\r\naccept:") == 1


async def test_no_header_is_sent_twice() -> None:
    pool = Pool(CONFIG, None)
    given = {"user-agent": "mine/1", "accept-encoding": "gzip", "authorization": "Bearer y"}
    asked = pool.question(Call("GET", "/a", headers=given), Proof({"authorization": "Bearer x"}))
    for name, value in given.items():
        assert asked.lower().count(f"\r\n{name}:".encode()) == 1
        assert f"\r\n{name}: {value}\r\n".encode() in asked
