"""Who may change a peer by what only ours offer (PeerAdmin): holders of a token, else this machine.

    -token-file=PATH   who shows what the file holds, as metadata `klight-token`, alone
    without            who calls over loopback: the containers of the same pod

What all lightpeers offer (Lightpeer, Health) has no authentication, and cannot: peers of other
makes would not know. The file is read at each such call, which are few, so it may be replaced.
"""

from __future__ import annotations

import hmac
from pathlib import Path

from quintant.agents.lightpeer.rpc.calls import Call, Code, Failed
from quintant.keys.sensitive import Sensitive
from quintant.wire.peeradmin import TOKEN

_IPV4, _IPV6 = "ipv4:127.", ("ipv6:[::1]:", "ipv6:[::ffff:127.", "ipv6:%5B::1%5D:")


class Guard:
    """Lets changes through, or does not."""

    def __init__(self, token_file: Path | None = None) -> None:
        self._file = token_file

    def check(self, call: Call) -> None:
        """Failed with PERMISSION_DENIED unless a caller may change this peer."""
        if self._file is None:
            if not call.local:
                raise _denied("without -token-file only this machine may change a peer so")
        elif not _same(read_token(self._file), call.metadata.get(TOKEN, "")):
            raise _denied("the token of -token-file is not what came with the call")


def read_token(path: Path) -> Sensitive[str]:
    """The token in a file; empty, which no client can show, if it cannot be read."""
    try:
        return Sensitive(path.read_text("ascii").strip())
    except (OSError, ValueError):
        return Sensitive("")


def is_local(peer: str) -> bool:
    """Whether gRPC's name of a caller is one of this machine."""
    return peer.startswith((_IPV4, *_IPV6, "unix:"))


def _same(token: Sensitive[str], presented: str) -> bool:
    return bool(token) and hmac.compare_digest(token.reveal().encode(), presented.encode())


def _denied(text: str) -> Failed:
    return Failed(Code.PERMISSION_DENIED, text)
