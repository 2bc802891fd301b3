"""What a tunnel makes of whatever answers at the URL of its relay."""

from __future__ import annotations

from random import Random

import pytest

from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.tunnel.dial import UpgradeRefused, dial_relay
from quintant.agents.tunnel.options import RelayEndpoint
from testbeds.relays import DOMAIN, RelayTestbed, answering, saying

_UPGRADE = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
PROVEN = b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"


async def _dialled(url: str, authority: str = "") -> None:
    dialed = await dial_relay(
        RelayEndpoint("one", url, authority=authority), HostResolver({}), Random(1)
    )
    dialed.socket.abort()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", 401),
        (b"HTTP/1.1 302 Found\r\nLocation: https://elsewhere.test/\r\n\r\n", 302),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200),
    ],
)
async def test_another_answer_than_an_upgrade_is_told(
    testbed: RelayTestbed, raw: bytes, status: int
) -> None:
    port = await testbed.service(answering(raw))
    with pytest.raises(UpgradeRefused) as caught:
        await _dialled(f"ws://127.0.0.1:{port}/relay")
    assert caught.value.status == status
    assert str(status) in str(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\nUpgrade: websocket\n\n",
        _UPGRADE + b"\r\n",
        _UPGRADE + PROVEN + b"\r\n",
        _UPGRADE + PROVEN + b"Sec-WebSocket-Protocol: another\r\n\r\n",
        b"",
    ],
)
async def test_what_speaks_no_websocket_is_no_relay(testbed: RelayTestbed, raw: bytes) -> None:
    port = await testbed.service(answering(raw))
    with pytest.raises(ConnectionError):
        await _dialled(f"ws://127.0.0.1:{port}/relay")


async def test_a_relay_is_believed_only_with_the_authority_that_was_given(
    testbed: RelayTestbed,
) -> None:
    relay, _ = await testbed.exposed("hello", saying("here"))
    url = f"wss://{DOMAIN}:{relay.tls_port}/relay"
    await _dialled(url, testbed.authority)
    with pytest.raises(OSError, match="certificate verify failed"):
        await _dialled(url)
    with pytest.raises(OSError, match="not valid for"):
        await _dialled(f"wss://127.0.0.1:{relay.tls_port}/relay", testbed.authority)
