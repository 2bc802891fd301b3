"""Promises of quintant.client.http.pool."""

from __future__ import annotations

from quintant.client.config.config import Config
from quintant.client.config.credentials import Credential
from quintant.client.http.pool import AGE_SECONDS, ConnectionPool
from quintant.client.transport import ApiRequest
from quintant.core.clock import monotonic
from quintant.testing.loop import advance
from unit.client.pki import Authority

CONFIG = Config("http://127.0.0.1:1")


async def test_pool_fits_its_own_identity_until_it_is_old() -> None:
    pair = Authority().issue("jo")
    pool = ConnectionPool(CONFIG, None)
    assert pool.fits(None, monotonic())
    assert not pool.fits(pair, monotonic())
    await advance(AGE_SECONDS)
    assert not pool.fits(None, monotonic())


async def test_json_is_asked_for_unless_the_call_says_otherwise() -> None:
    pool = ConnectionPool(CONFIG, None)
    plain = pool.encode(ApiRequest("GET", "/a"), Credential({"authorization": "Bearer x"}))
    assert b"\r\nAccept: application/json\r\n" in plain
    assert b"\r\nauthorization: Bearer x\r\n" in plain
    other = pool.encode(ApiRequest("GET", "/a", headers={"Accept": "text/x"}), Credential())
    assert other.lower().count(b"\r\naccept:") == 1


async def test_no_header_is_sent_twice() -> None:
    pool = ConnectionPool(CONFIG, None)
    given = {"user-agent": "mine/1", "accept-encoding": "gzip", "authorization": "Bearer y"}
    asked = pool.encode(
        ApiRequest("GET", "/a", headers=given), Credential({"authorization": "Bearer x"})
    )
    for name, value in given.items():
        assert asked.lower().count(f"\r\n{name}:".encode()) == 1
        assert f"\r\n{name}: {value}\r\n".encode() in asked
