"""StreamProtocolV5Name, ChannelWebSocketProtocol: the streams of a session in one WebSocket.

The first byte of a message says which stream it is of. What becomes of a command is told on
the error channel by a Status, or without a version by words, and only if it failed. Version 5 can
end a stream: 255, and which. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import msgspec

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import TerminalSize
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.wire.foreign import MalformedInput, decode_json

V5, V4, UNVERSIONED = "v5.channel.k8s.io", "v4.channel.k8s.io", "channel.k8s.io"
PROTOCOLS = (V5, V4, UNVERSIONED)
"""Those that are spoken, the preferred one first."""
_MOST_CHARACTERS = 65_535
"""Of a terminal's side: what the kernel can hold."""
_SIZE_BYTES = 1024
"""Of a message with a terminal's size."""


class ExecChannel(IntEnum):
    """What a message is of."""

    STDIN = 0
    STDOUT = 1
    STDERR = 2
    ERROR = 3
    RESIZE = 4
    CLOSE = 255


class _Outcome(msgspec.Struct):
    status: str = ""
    message: str = ""


class _Size(msgspec.Struct):
    width: int = msgspec.field(name="Width", default=0)
    height: int = msgspec.field(name="Height", default=0)


def read_size(payload: bytes) -> TerminalSize | None:
    """A terminal's size as clients send it; None if it is none."""
    try:
        size = decode_json(payload, _Size, most=_SIZE_BYTES)
    except MalformedInput:
        return None
    sides = (size.width, size.height)
    if not all(0 < each <= _MOST_CHARACTERS for each in sides):
        return None
    return TerminalSize(*sides)


def success_status() -> bytes:
    """What is told when a command ended with 0."""
    return msgspec.json.encode({"metadata": {}, "status": "Success"})


def exit_status(command: Sequence[str], code: int) -> bytes:
    """What is told when a command ended with another code."""
    words = " ".join(command)
    why = f"error executing command [{words}], exit code {code}"
    cause = {"reason": "ExitCode", "message": str(code)}
    return msgspec.json.encode(_failure(
        f"command terminated with non-zero exit code: {why}",
        reason="NonZeroExitCode",
        details={"causes": [cause]},
    ))  # fmt: skip


def error_status(error: StatusError) -> bytes:
    """What is told when there was no command to wait for."""
    return msgspec.json.encode(error.status)


def outcome(protocol: str, status: bytes) -> bytes:
    """What the error channel of a protocol says at the end; empty if it says nothing."""
    if protocol != UNVERSIONED:
        return status
    ended = decode_json(status, _Outcome)
    return b"" if ended.status == "Success" else ended.message.encode()


def _failure(message: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {}, "status": "Failure", "message": message, **more}
