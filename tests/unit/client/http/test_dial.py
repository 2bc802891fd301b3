"""Promises of quintant.client.http.dial; how connections come about is told by http's."""

from __future__ import annotations

import socket

from quintant.client.http.dial import tune


def test_socket_notices_that_its_peer_is_gone() -> None:
    with socket.socket() as made:
        tune(made)
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == 15
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT) == 2
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 45_000
