"""Promises of quintant.runtime.client.line."""

from __future__ import annotations

import socket

import pytest

from quintant.runtime.client.config import Config
from quintant.runtime.client.line import AGE_SECONDS, Line, tuned
from quintant.testing.loop import advance
from unit.runtime.client.pki import Authority

CONFIG = Config("http://127.0.0.1:1")


def test_socket_notices_that_its_peer_is_gone() -> None:
    with tuned((socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)) as made:
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == 15
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT) == 2
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 45_000


@pytest.mark.parametrize("pooled", [True, False])
async def test_line_fits_its_own_identity_until_it_is_old(pooled: bool) -> None:
    pair = Authority().issue("jo")
    line = Line(CONFIG, None, pooled=pooled)
    assert line.fits(None)
    assert not line.fits(pair)
    await advance(AGE_SECONDS)
    assert not line.fits(None)
    await line.close()
