"""The input of a program: a pipe, or a terminal, which has a size and no end but a character."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios
from contextlib import ExitStack, suppress

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import TerminalSize
from quintant.cluster.kubelet.process.fd_stream import FdStream

END_OF_TRANSMISSION = b"\x04"
"""What ends the input of a terminal."""


class LocalProcessInput:
    """Our end of it. Several clients may write, one after another."""

    def __init__(self, stream: FdStream, *, terminal: bool) -> None:
        self._stream, self._terminal = stream, terminal
        self._turn = asyncio.Lock()

    async def write(self, data: bytes) -> None:
        async with self._turn:
            await self._stream.write(data)

    def end(self) -> None:
        if self._stream.closed:
            return
        if self._terminal:
            with suppress(OSError):
                os.write(self._stream.fileno(), END_OF_TRANSMISSION)
        else:
            self._stream.close()

    def resize(self, size: TerminalSize) -> None:
        if self._terminal and not self._stream.closed:
            window = struct.pack("HHHH", size.height, size.width, 0, 0)
            fcntl.ioctl(self._stream.fileno(), termios.TIOCSWINSZ, window)

    def close(self) -> None:
        """Let go of it; whoever waits goes on."""
        self._stream.close()


def open_input(ours: ExitStack, theirs: ExitStack) -> tuple[LocalProcessInput, int]:
    """Our end of a pipe, and the one that a program reads from."""
    read, write = os.pipe()
    theirs.callback(os.close, read)
    return LocalProcessInput(own_stream(ours, write), terminal=False), read


def open_terminal(theirs: ExitStack) -> tuple[int, int]:
    """Both ends of a terminal: ours, which nobody owns yet, and the program's."""
    near, far = os.openpty()
    theirs.callback(os.close, far)
    return near, far


def own_stream(ours: ExitStack, fd: int) -> FdStream:
    """A descriptor that is closed unless all goes well."""
    stream = FdStream(fd)
    ours.callback(stream.close)
    return stream
