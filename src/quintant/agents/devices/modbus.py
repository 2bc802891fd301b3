"""A simulated Modbus/TCP device: a temperature that changes, registers and coils to write.

    holding 0        temperature, tenths of a degree        holding 10..19   anything
    holding 2..3     the same as float32                    coil 0..15       switches

Nothing else is there: what is asked beyond is an illegal address.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from quintant.agents.devices.http_device import MockOptions, parse
from quintant.agents.multiplex.program import run, say

PORT = 5020
TEMPERATURE = 215
"""Tenths of a degree."""
logging.getLogger("pymodbus").setLevel(logging.CRITICAL)


def device() -> SimDevice:
    """What there is to read and to write."""
    coils = [SimData(0, count=16, values=False, datatype=DataType.BITS)]
    discrete = [SimData(0, count=16, values=True, datatype=DataType.BITS)]
    holding = [
        SimData(0, values=[TEMPERATURE, 0], datatype=DataType.REGISTERS),
        SimData(2, values=TEMPERATURE / 10, datatype=DataType.FLOAT32),
        SimData(10, count=10, values=0, datatype=DataType.REGISTERS),
    ]
    inputs = [SimData(0, values=TEMPERATURE, datatype=DataType.REGISTERS)]
    return SimDevice(1, simdata=(coils, discrete, holding, inputs))


async def serve(options: MockOptions, stopped: asyncio.Event) -> None:
    """Serve until the event is set."""
    server = ModbusTcpServer(device(), address=(options.listen, options.port))
    await server.serve_forever(background=True)
    say("serve", device=options.name, port=options.port, simulator=True)
    await stopped.wait()
    await server.shutdown()


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    options = parse("modbus", arguments, PORT)
    run(lambda stopped: serve(options, stopped), small=True)
