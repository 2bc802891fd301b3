"""What a mosquitto of the machine is told: lines that are written here, and none of the pod's own.

Its configuration comes from a ConfigMap, which anybody may have written who may create pods. Some
directives of mosquitto load code (`plugin`, `auth_plugin`), read other files (`include_dir`) or
write some (`pid_file`, `log_dest file`). So the text is read into directives that are known to do
neither, and written anew. What is left out is named, and never opens the broker to more clients.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import NamedTuple

_YES_OR_NO, _NUMBER = r"true|false", r"-?\d{1,9}"
DIRECTIVES = {
    "allow_anonymous": _YES_OR_NO,
    "allow_duplicate_messages": _YES_OR_NO,
    "connection_messages": _YES_OR_NO,
    "log_dest": r"stdout|stderr|none",
    "log_timestamp": _YES_OR_NO,
    "log_type": r"debug|error|warning|notice|information|subscribe|unsubscribe|none|all",
    "max_connections": _NUMBER,
    "max_inflight_bytes": _NUMBER,
    "max_inflight_messages": _NUMBER,
    "max_keepalive": _NUMBER,
    "max_packet_size": _NUMBER,
    "max_queued_bytes": _NUMBER,
    "max_queued_messages": _NUMBER,
    "memory_limit": _NUMBER,
    "message_size_limit": _NUMBER,
    "protocol": r"mqtt|websockets",
    "queue_qos0_messages": _YES_OR_NO,
    "retain_available": _YES_OR_NO,
    "set_tcp_nodelay": _YES_OR_NO,
    "sys_interval": _NUMBER,
}
"""Directives that are passed on, and the values that they may have."""
_LISTENER = re.compile(r"(\d{1,5})(?:\s+\S+)?")


class MosquittoConfig(NamedTuple):
    """A configuration, and the directives that are not in it."""

    text: str
    left_out: tuple[str, ...] = ()


def bound_config(text: str, address: str, port: int) -> MosquittoConfig:
    """A configuration with every listener on one address: the pod's, not all.

    ValueError if that is no address.
    """
    bound, lines, left_out = ip_address(address), [], []
    for name, value in _directives(text):
        if name == "listener" and (found := _LISTENER.fullmatch(value)):
            lines.append(f"listener {found[1]} {bound}")
        elif name in DIRECTIVES and re.fullmatch(DIRECTIVES[name], value):
            lines.append(f"{name} {value}")
        else:
            left_out.append(name if name.isidentifier() else "?")
    if not any(line.startswith("listener ") for line in lines):
        # Before all others: what follows a listener is about that listener.
        lines.insert(0, f"listener {port} {bound}")
    # Who says nothing of clients wants everybody; a password file that is left out lets nobody in.
    if not left_out and not any(line.startswith("allow_anonymous ") for line in lines):
        lines.append("allow_anonymous true")
    return MosquittoConfig("\n".join((*lines, "")), tuple(dict.fromkeys(left_out)))


def _directives(text: str) -> list[tuple[str, str]]:
    """The directives of a configuration, as mosquitto reads them: a name, and the rest."""
    lines = (line.strip() for line in re.split(r"[\r\n]", text))
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return [(name, value.strip()) for name, _, value in pairs]
