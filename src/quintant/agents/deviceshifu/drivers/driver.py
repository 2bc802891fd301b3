"""What every driver is: a session with a device, its instructions, its readings."""

from __future__ import annotations

from typing import Protocol

from quintant.agents.deviceshifu.config.values import DeviceConfig, Instruction
from quintant.agents.deviceshifu.text import one_line
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse, text_response

Answer = Response | StreamingResponse
KEPT_BYTES = 64 * 1024
"""Of a reading, a message or an error: what devices say is bounded wherever it is kept."""
BODY_BYTES = 16 * 1024 * 1024
"""Of what a caller sends."""
NOT_CONNECTED = 503
BROKEN = 502


class DeviceError(Exception):
    """A device did not do what was asked; the status and the text are for the caller."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(one_line(text))
        self.status = status

    @property
    def response(self) -> Response:
        """As the caller is told."""
        return refused(str(self), self.status)


class Driver(Protocol):
    """A device, by one protocol."""

    counts_readings: bool
    """Whether a reading that fails tells that the device is not reachable."""

    @property
    def busy(self) -> bool:
        """Whether a command is under way that a move would cut short."""

    def configure(self, config: DeviceConfig) -> None:
        """Take another configuration; the session goes on."""

    async def run(self) -> None:
        """Keep the session, for ever; what it holds is let go when it is cancelled."""

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Answer a caller; DeviceError if the device does not."""

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """One reading; DeviceError if there is none."""

    async def check(self, seconds: float | None) -> None:
        """DeviceError if the device cannot be reached."""


def refused(text: str, status: int) -> Response:
    """A refusal for a caller, which no browser takes for anything but text."""
    return text_response(text, status, **{"x-content-type-options": "nosniff"})


def not_connected(cause: str) -> DeviceError:
    """There is no session to ask by."""
    return DeviceError(NOT_CONNECTED, f"device not connected: {cause}")


def known_instruction(config: DeviceConfig, name: str) -> Instruction:
    """The instruction of a name; DeviceError if there is none."""
    found = config.instructions.get(name)
    if found is None:
        raise DeviceError(400, f"{name} is no instruction")
    return found


async def whole_body(request: Request) -> bytes:
    """What a caller sent; DeviceError if it is too much."""
    body = await request.body(BODY_BYTES)
    if len(body) > BODY_BYTES:
        raise DeviceError(413, f"a body has at most {BODY_BYTES} bytes")
    return body
