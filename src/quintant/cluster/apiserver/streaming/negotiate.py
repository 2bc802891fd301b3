"""wsstream.IsWebSocketRequest, httpstream.Handshake: which protocol a connection goes on with.

WebSockets, and SPDY for older clients. Each carries one of the protocols that a subresource speaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from quintant.cluster.apiserver.meta.status import bad_request
from quintant.cluster.apiserver.streaming.spdy import SPDY, offered_versions, spdy_headers
from quintant.cluster.apiserver.streaming.websocket import (
    handshake_error,
    handshake_headers,
    is_websocket,
    offered_protocols,
)

UPGRADE_REQUIRED = "Upgrade request required"


class NegotiatedProtocol(Struct, frozen=True):
    """What a connection goes on with."""

    websocket: bool
    headers: Mapping[str, str]
    """Of the answer."""
    name: str
    """Of what is carried."""


def negotiate(
    headers: Mapping[str, str], websocket: Sequence[str], spdy: Sequence[str]
) -> NegotiatedProtocol:
    """The best of what both sides speak over WebSocket or SPDY; 400 if there is nothing."""
    if "upgrade" not in headers.get("connection", "").lower():
        raise bad_request(UPGRADE_REQUIRED)
    if is_websocket(headers):
        if why := handshake_error(headers):
            raise bad_request(why)
        protocol = _choose(offered_protocols(headers), websocket)
        return NegotiatedProtocol(True, handshake_headers(headers, protocol), protocol)
    wanted = headers.get("upgrade", "")
    if wanted.lower() != SPDY.lower():
        raise bad_request(f"unable to upgrade: {wanted} is not served by this cluster")
    version = _choose(offered_versions(headers), spdy)
    return NegotiatedProtocol(False, spdy_headers(version), version)


def _choose(offered: Sequence[str], spoken: Sequence[str]) -> str:
    for each in spoken:
        if each in offered:
            return each
    raise bad_request(
        f"requested protocol(s) are not supported: [{' '.join(offered)}]; "
        f"supports [{' '.join(spoken)}]"
    )
